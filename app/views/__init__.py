"""Views of the main window. A view receives its contents, emits requests and does not know other views."""
