"""Facts about models besides their scores, and how to use them."""
