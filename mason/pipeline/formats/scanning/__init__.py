"""Where records begin and end in the bytes of a text, and how chunks of whole records are parsed."""
