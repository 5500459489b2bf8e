"""Find and read draft checkpoints: headers first, tensors on demand."""

from pytest_eagle_contract.checkpoint.config import Config, Located
from pytest_eagle_contract.checkpoint.model import Checkpoint, TensorInfo
from pytest_eagle_contract.checkpoint.reader import open_checkpoint

__all__ = ["Checkpoint", "Config", "Located", "TensorInfo", "open_checkpoint"]
