from .adapters import adapt, adapter_rank, adapter_state, load_adapters
from .batching import length_batches
from .encoder import Encoder
from .find import find_encoder, packaged_folder
from .layers import changed_after, freeze_bottom, hook_after, layers_of
from .masked import Masked, MaskedHead, TokenMask, masked_losses, masked_perplexity
from .masked_training import MaskedTask
from .mention_batch import MASKED, NIL, MentionBatch
from .passages import join_sentences, passages
from .pooling import Pooling
from .settings import MaskedSettings
from .static import StaticEncoder, quantise
from .windows import TokenSpans, Windows, token_spans

__all__ = [
    "MASKED",
    "NIL",
    "Encoder",
    "Masked",
    "MaskedHead",
    "MaskedSettings",
    "MaskedTask",
    "MentionBatch",
    "Pooling",
    "StaticEncoder",
    "TokenMask",
    "TokenSpans",
    "Windows",
    "adapt",
    "adapter_rank",
    "adapter_state",
    "changed_after",
    "find_encoder",
    "freeze_bottom",
    "hook_after",
    "join_sentences",
    "layers_of",
    "length_batches",
    "load_adapters",
    "masked_losses",
    "masked_perplexity",
    "packaged_folder",
    "passages",
    "quantise",
    "token_spans",
]
