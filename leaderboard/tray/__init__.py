"""The input component of the page Compare: images and texts, the mode, the models (tray.js and its modules)."""
