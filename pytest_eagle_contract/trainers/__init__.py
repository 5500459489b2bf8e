"""Trainers as declared data, and the code that reads them."""
