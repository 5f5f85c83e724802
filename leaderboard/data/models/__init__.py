"""What is known of models beside their scores, and how to use them."""
