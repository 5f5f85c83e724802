"""What pages and programs send to Gradio: filtered, queued in turns, without sessions."""
