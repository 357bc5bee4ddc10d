"""``python -m cardgym.cli``: the same as ``cardgym``."""

import sys

from cardgym.cli import main

sys.exit(main())
