"""Search: which keys a query finds, and how likely each is the right one."""
