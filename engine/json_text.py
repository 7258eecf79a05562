"""JSON from outside the program. A text either parses or raises ValueError."""

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError, even if `json.loads` would exceed Python's stack."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the text is nested too deeply") from None
    except json.JSONDecodeError:
        raise
    except UnicodeDecodeError:
        raise ValueError("the text is not UTF-8") from None
    except ValueError:  # Python limits the digits of an integer
        raise ValueError("a number has too many digits") from None
