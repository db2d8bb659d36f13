"""Does an agent do better with what it learned? A small world of tools, an agent that only tries, and a memory.

The world runs commands for real (in Python, without a network), the agent has no knowledge of its own and
no language model: whatever it does better the second time, it does because of what it was told.
"""
