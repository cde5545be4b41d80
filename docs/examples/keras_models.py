"""Writes ONNX models that tf2onnx makes of Keras and of TensorFlow functions, for `opcert check`.

python keras_models.py FOLDER

Needs tf2onnx and tensorflow (1.17.0 and 2.21.0 were tried, on Python 3.11).
"""

from __future__ import annotations

import sys
from pathlib import Path

import tensorflow as tf
import tf2onnx

OPSET = 17
layers = tf.keras.layers


def images() -> tf.keras.Model:
    """Convolutions, normalizations, pools, an enlargement."""
    image = layers.Input((24, 24, 3), name="image")
    found = layers.Conv2D(8, 3, strides=2, padding="same", use_bias=False)(image)
    found = layers.ReLU(max_value=6.0)(layers.BatchNormalization()(found))
    found = layers.BatchNormalization()(layers.DepthwiseConv2D(3, padding="same")(found))
    found = layers.MaxPooling2D(2)(layers.Activation("swish")(found))
    found = layers.UpSampling2D(2, interpolation="bilinear")(found)
    found = layers.Conv2DTranspose(4, 2, strides=2)(found)
    found = layers.GlobalAveragePooling2D()(layers.AveragePooling2D(2, padding="same")(found))
    return tf.keras.Model(image, layers.Dense(5, activation="softmax")(found))


def texts() -> tf.keras.Model:
    """An embedding, two recurrences, attention, a normalization."""
    tokens = layers.Input((12,), dtype="int32", name="tokens")
    found = layers.LSTM(6, return_sequences=True)(layers.Embedding(50, 8)(tokens))
    found = layers.GRU(6, return_sequences=True)(found)
    attended = layers.MultiHeadAttention(2, 4)(found, found)
    found = layers.LayerNormalization()(layers.Add()([found, attended]))
    return tf.keras.Model(tokens, layers.Dense(3, activation="elu")(found))


PICKED = [
    tf.TensorSpec([None, None, None, 3], tf.float32, "image"),
    tf.TensorSpec([None], tf.int32, "rows"),
]


def picked(image: tf.Tensor, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Two ways to resize, a mean, rows by number, the greatest, a choice."""
    both = [tf.image.resize(image, [16, 20], method=each) for each in ("bilinear", "nearest")]
    flat = tf.transpose(tf.reduce_mean(tf.concat(both, -1), axis=[1]), [1, 0, 2])
    some = tf.gather(flat, rows, axis=0)
    _, where = tf.math.top_k(tf.reduce_max(some, -1), 1)
    return tf.where(some > 0.5, some, tf.zeros_like(some)), where


tf.keras.utils.set_random_seed(7)
folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, model in {"keras_images": images(), "keras_texts": texts()}.items():
    signature = [tf.TensorSpec(each.shape, each.dtype, each.name) for each in model.inputs]
    run = tf.function(lambda given, model=model: model(given, training=False), input_signature=signature)
    tf2onnx.convert.from_function(run, signature, opset=OPSET, output_path=str(folder / f"{name}.onnx"))
tf2onnx.convert.from_function(
    tf.function(picked, input_signature=PICKED), PICKED, opset=OPSET, output_path=str(folder / "picked.onnx")
)
