from .fit import Diverged, Epoch, fit, train_in_memory
from .pretrained import MANIFEST, ModelManifest, Pretrained, read_manifest
from .processes import Processes
from .run_folder import differences
from .seeds import Purpose, seeded, shuffled_batches, stream, torch_stream
from .settings import Schedule, TrainingSettings
from .task import AdamWTask, ParameterGroups, TrainingTask, lr_scale, without_prefix

__all__ = [
    "MANIFEST",
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
    "lr_scale",
    "read_manifest",
    "seeded",
    "shuffled_batches",
    "stream",
    "torch_stream",
    "train_in_memory",
    "without_prefix",
]
