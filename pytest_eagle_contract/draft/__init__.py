"""The reference EAGLE-3 draft in PyTorch; the only room beside target/ and acceptance/ with torch."""
