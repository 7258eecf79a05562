"""Views of the window. A view receives its contents, emits requests and knows no other view."""
