"""Parts of Qt that several views are made of; they are given what they show."""
