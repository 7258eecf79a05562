"""Messages of a class and of a team. Each is a JSON object whose `kind` names its class.

codec.py encodes and decodes them. requests.py contains the messages to a host, replies.py the messages from a
host, and team.py the messages of a team in both directions. A host refuses unknown fields and kinds. A seat
ignores them, because its host may be newer.
"""
