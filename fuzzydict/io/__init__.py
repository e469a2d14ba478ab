"""Files, tables and columns, in and out."""
