#!/bin/sh
# Hands an event of the client to Afterwit. A plugin cannot know where that is installed, so it must be on the PATH;
# where it is not, the session says so once, and nothing else happens.
if command -v afterwit >/dev/null 2>&1; then
  exec afterwit hook "$1"
fi
cat >/dev/null
if [ "$1" = session-start ]; then
  printf '%s\n' '{"systemMessage": "The Afterwit plugin finds no command afterwit on the PATH, so there is no memory. Install Afterwit there (for example with pipx or uv tool), or use `afterwit connect` instead of the plugin. 未在 PATH 中找到 afterwit 命令，记忆不可用。"}'
fi
