"""`python -m afterwit.serve DATA_DIR`: `afterwit daemon run` as the fast door starts it, past the command line, for
somebody waits."""

import sys

from afterwit.door import place_of
from afterwit.serve.daemon import run_daemon

if __name__ == "__main__":
    sys.exit(run_daemon(place_of(sys.argv[1])))
