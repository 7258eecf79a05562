"""Parser for JSON from outside the program. Every failure is a ValueError."""

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """Parse a JSON text. Raises ValueError for every failure, including too deep nesting."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the text is nested too deeply") from None
    except json.JSONDecodeError:
        raise
    except UnicodeDecodeError:
        raise ValueError("the text is not UTF-8") from None
    except ValueError:  # Python limits the number of digits of an integer
        raise ValueError("a number has too many digits") from None
