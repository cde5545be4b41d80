"""As much of JAX as the worker of jaxlib calls: one device, and arrays that come and go."""

from types import SimpleNamespace
from typing import Any

from jaxlib.xla_client import Client  # type: ignore[import-not-found]


def local_devices() -> list[Any]:
    return [SimpleNamespace(client=Client())]


def device_put(array: Any, _device: Any) -> Any:
    return array
