"""Load Hugging Face's model and tokenizer: quietly, as float32, from safetensors only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError

from kgraft.errors import BadInput
from kgraft.json_text import read_json_file

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

UNREADABLE = (OSError, ValueError, LookupError, TypeError, RuntimeError, SafetensorError)
"""What transformers is seen to raise on a folder that is damaged or holds something else."""


def load_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """Load the tokenizer of a folder."""
    from transformers import AutoTokenizer

    with _refusing(folder), quiet():
        return AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def load_model(folder: Path) -> PreTrainedModel:
    """Load the model of a folder, in evaluation mode."""
    from transformers import AutoModel

    with _refusing(folder), quiet():
        model, report = AutoModel.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=torch.float32,
            output_loading_info=True,
        )
    _check(model, report, folder)
    return model.eval()


@contextmanager
def _refusing(folder: Path) -> Iterator[None]:
    """Turn the library's errors into one line about the folder."""
    try:
        yield
    except Exception as error:
        # The Rust behind tokenizers raises bare `Exception`s.
        if not isinstance(error, UNREADABLE) and type(error) is not Exception:
            raise
        reason = str(error).strip().partition("\n")[0]
        raise BadInput(f"no encoder could be loaded: {reason}", file=str(folder)) from error


def longest_input(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> int:
    """Return how many tokens the model can read at once, special tokens included."""
    limits = [int(tokenizer.model_max_length), 1 << 20]
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            # RoBERTa and models like it count positions from padding_idx + 1.
            unused = 0 if module.padding_idx is None else module.padding_idx + 1
            limits.append(module.num_embeddings - unused)
            break
    else:
        limits.append(int(getattr(model.config, "max_position_embeddings", limits[-1])))
    return min(limits)


def read_length(folder: Path, longest: int) -> int:
    """Return the length a sentence encoder was trained to read, where its folder says so."""
    try:
        config = read_json_file(folder / "sentence_bert_config.json")
        return min(longest, int(config["max_seq_length"]))
    except (OSError, ValueError, LookupError, TypeError):
        return longest


def _check(model: PreTrainedModel, report: dict[str, Any], folder: Path) -> None:
    """Refuse encoder-decoders, and weights with tensors missing."""
    if model.config.is_encoder_decoder:
        kind = model.config.model_type
        raise BadInput(
            f"{kind} is not an encoder alone", file=str(folder), remedy="choose one like BERT"
        )
    missing = sorted(key for key in report["missing_keys"] if not key.startswith("pooler."))
    if missing:
        raise BadInput(
            f"the weights lack {missing[0]} and {len(missing) - 1} more",
            file=str(folder),
            remedy="save the model again with save_pretrained",
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from drawing bars and logging below errors while the block runs."""
    from transformers.utils import logging

    log: Any = logging  # some of its functions carry no annotations
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()
