"""The clients that agents run in: connecting them, taking that back, and seeing whether it works.

`table` says where each keeps what; `jsonc` and `toml` edit without touching anything else; `parts` are what is ours in
a file; `plan` works out changes, `files` carries them out; `health` starts what is configured,
`overview` tells how all stand; `answering` is what the commands print.
"""
