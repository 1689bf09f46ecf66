from .fit import Diverged, Epoch, fit, train_in_memory
from .pretrained import ModelManifest, Pretrained, read_manifest
from .processes import Processes
from .run_folder import differences
from .seeds import Purpose, seeded, shuffled_batches, stream, torch_stream
from .settings import Schedule, TrainingSettings
from .task import AdamWTask, ParameterGroups, TrainingTask, without_prefix

__all__ = [
    "AdamWTask",
    "Diverged",
    "Epoch",
    "ModelManifest",
    "ParameterGroups",
    "Pretrained",
    "Processes",
    "Purpose",
    "Schedule",
    "TrainingSettings",
    "TrainingTask",
    "differences",
    "fit",
    "read_manifest",
    "seeded",
    "shuffled_batches",
    "stream",
    "torch_stream",
    "train_in_memory",
    "without_prefix",
]
