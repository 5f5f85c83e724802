"""The models a visitor may ask: which, in what state, loaded and unloaded."""
