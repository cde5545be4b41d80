"""Files of formats that are not decoded here, each with what a decoder makes of it, kept.

Written and read by Pillow 13.0.0 (libjpeg-turbo 3.2.0, libwebp 1.6.0, OpenJPEG 2.5.4); OpenCV 5 gives the
same samples. Those of lossy forms may be off: by 3 in JPEG, whose inverse transform and change of colours
round each by one and may each be in whole numbers; by 2 in WebP, whose chroma is constant here, so that no
way to enlarge it shows, and in JPEG 2000 with its transform in floats.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reference.shared.pictures.decoded_pictures import DecodedPicture

_WIDTH, _HEIGHT = 15, 12


@dataclass(frozen=True)
class KeptPicture:
    """A file and the samples in it (zlib), both in base 64, of `channels`; `off` as in `DecodedPicture`."""

    file: str
    samples: str
    channels: int = 3
    off: int = 0

    @property
    def raw(self) -> bytes:
        return base64.b64decode(self.file)

    @property
    def picture(self) -> DecodedPicture:
        samples = np.frombuffer(zlib.decompress(base64.b64decode(self.samples)), np.uint8)
        shaped = samples.astype(np.int64).reshape(_HEIGHT, _WIDTH, self.channels)
        return DecodedPicture(shaped, off=self.off)


KEPT: Mapping[str, KeptPicture] = {
    "jpeg_444": KeptPicture(
        (
            "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEB"
            "YQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU"
            "FBQUFBQUFBQUFBQUFBQUFBT/wAARCAAMAA8DAREAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8"
            "QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0"
            "NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7"
            "i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcI"
            "CQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGR"
            "omJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmq"
            "srO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDe07xR0+f9a+RwvD"
            "/kfguS4HbQ6jT/ABRx9/8AWvscLw/5H7zk+B02PCdO1Cfj5q/TcJgqPY/Pslow00Oo07UJsfer7DDYKjbY/ecnow5Vof/Z"
        ),
        (
            "eNoFwUtP2gAAAOC/o3gBzkCWbAMOW6DbwsZjYUMoU6GCFXlLy0OkUJFBW2GgpTykUEFKUCIZDnWymOFcTDgYd1iyH7LvEz"
            "w+ET08lc6Uinu1+u6tfmqw3JjsE4v/0omO4eTISww3y6dbzT7O9zKC+2fC3wrJ9IX85rVqotddfTCPQdtoyX+2jgzcWD9I"
            "8GG6jbFc5pglBT9eiieA7FKj/GYARouG4TI4cEB9ONANoh0kxcVIFmdquRaT5+n9hbFGfK6VDY2KAQj07QYeBjseiPMHGv"
            "FwHUtW0yRNMMViq1Dlqfrc6XvhyUcJD8o7dhXn0ja85jpiq0R8BzuhUgYrUDmqSGerbKZ1vNOZa1uFRysS1vH8cENVDero"
            "qLmE2Qq4j6QQopDIHuTSdRprs9u9462BoLYqrsIy2qsoIUAhriNTYO4zlCECeBlNVrEES8Y6DHrSCo26gYv5Iiz64pZSQU"
            "UuqtrFdPiuGSPs23l/tIaEG8nQERHolT1nzY1xF76eJzaFWVSSjstTO6oEod0qmSOMDaltBNqb3i7mGlBr57Tj+hD62Vm5"
            "XUjFRNi2JI7LIwSAFPXBisXH2jycB+6jzgEOjfaWvtOfpix4xy/OBAguDmVkfkrp2QdcNcMaB67ykK3vXf6KWi/Spkne+I"
            "sxzJr6h572j8CXFbv3pOslhbOihjjdShe0ntotQ5/pKmyc4Prb/LsZo3lsvfnbffXvP5LUHRY="
        ),
        channels=3,
        off=3,
    ),
    "jpeg_420": KeptPicture(
        (
            "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEB"
            "YQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU"
            "FBQUFBQUFBQUFBQUFBQUFBT/wAARCAAMAA8DASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8"
            "QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0"
            "NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7"
            "i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcI"
            "CQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGR"
            "omJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmq"
            "srO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDe07xR0+f9a6jT/F"
            "HH3/1rwnTtQn4+auo07UJsfer6fKuDcNpsfOcF5TTtE//Z"
        ),
        (
            "eNoBHALj/THYQzXXRj7VTEfSUVPOWV7LXmnHZnPDan3CcYa+dY+7fJq4gqS1ia2zj7WxlC7QRjLQSDvNTkTLU0/HW1rEYG"
            "bAaG+8bHm7c4O3d4y1fZaxhKCuiqmskbCplizITTDIUTnGVkLDXE6/Y1q8aWW4cG60dXize4GvgIqthZWpjZ+mlKikma+h"
            "ni3AWDG/Wzq9YEO6Zk+2bVqzc2Wvem2sf3iqhYCnioukj5WhlZ+dnqibpK+YqCu1YDC1ZDmzaEOwb0+sd1moe2Slg22iiH"
            "mgjoGck4uZmZSXnp+Tp6iRra6Pry2saTGsbTqqcESneE+jf1ughGacjG+YkHmXl4KTm4uRoZaOpqCKsKmItbCGuC6jbzOj"
            "czyheUWeflGahlqWimeTknGPl3uOnYOLoo2IqJeFraKBtqt/vLF9vy+ZdTSZeTuXfkaUhk+QiluMkWWJl3CGnXqFo4KCqI"
            "5+rZd7taJ3vKp2wbJyxjCRfjSQgTyPh0aMjFCJlFyFm2eCoHB+pXl7q4F4r410tZdzvaNvwqptyrJqzi+JhzOJiDyGj0WE"
            "lVGAnFt9omd5p292rHhzs4JxuI1uvpdqxaFny6pl0LJj2CqAjTGAjzp9l0N7nE54oll0qWNxrm1ts3dsu4BowIplxZVhzZ"
            "5f0qdd2LBa3yl7kC17kjd4mEB1nUxxpVZuqmFrsmpntnRmvX1iwYhfyZNdz5xa1qVY3K1V4DZqHPk="
        ),
        channels=3,
        off=3,
    ),
    "jpeg_progressive": KeptPicture(
        (
            "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAUDBAQEAwUEBAQFBQUGBwwIBwcHBw8LCwkMEQ8SEhEPERETFhwXExQaFRERGC"
            "EYGh0dHx8fExciJCIeJBweHx7/2wBDAQUFBQcGBw4ICA4eFBEUHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4e"
            "Hh4eHh4eHh4eHh4eHh4eHh7/wgARCAAMAA8DAREAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAABAb/xAAWAQEBAQAAAA"
            "AAAAAAAAAAAAAEBgX/2gAMAwEAAhADEAAAAUhmmPpJvXzGOpP/xAAXEAEBAQEAAAAAAAAAAAAAAAACAAED/9oACAEBAAEF"
            "Ah1j1ititv/EABgRAAIDAAAAAAAAAAAAAAAAAAAEAQID/9oACAEDAQE/AVchbIVrArWD/8QAFxEAAwEAAAAAAAAAAAAAAA"
            "AAAAIDBP/aAAgBAgEBPwGeMniJyUSSn//EABQQAQAAAAAAAAAAAAAAAAAAACD/2gAIAQEABj8CH//EABYQAQEBAAAAAAAA"
            "AAAAAAAAAABRYf/aAAgBAQABPyHRssWP/9oADAMBAAIAAwAAABBmf//EABcRAQEBAQAAAAAAAAAAAAAAAAAhETH/2gAIAQ"
            "MBAT8Q5ppmJ//EABgRAQADAQAAAAAAAAAAAAAAAAARMWFR/9oACAECAQE/EMWDgRKf/8QAFxABAQEBAAAAAAAAAAAAAAAA"
            "ACERMf/aAAgBAQABPxDgSJTKf//Z"
        ),
        (
            "eNoBHALj/SrZPjPXQ0DUSErRUFHOVlvLW2fIYXDGZXzBboHAcYu9dpi6faO3hK20i7KykCjTRjHRST3OT0fKVk/HXVnFYm"
            "XCaXC/bHy7dYG5eIq3fpazg6Gvi6qtkrGqlyfJTzDHUzzEWEfAX02+Zli7a2W4cm62dnmyf4CvgYmth5Wpjp+mlKqjm6+h"
            "oCfAVjG9Wj67YEa3Z0+0bliydGSueW6sfXqnhn+miYqjjpWhl6GdnqqapLCYqCi3XTG1YT6yZ0mvblGsc1qpemWlgHCjhH"
            "yejYGdj4qblZeYnaKUpauRqrKPryquZTOsaT+ob0mldlGje1qfgmeciHCajHyWl4GUmouRn5eNpaKKrKyHs7GFtiikbjKi"
            "cj6eeEecf1CZhViWi2WTkW+QlXuMoICKo4uHqJWErqGAtap+vbB7wSaddS+beTyYf0aUhE2Ti1iPkmSMmG2KnHiFp36DqY"
            "iAr5V+tp96vap3xK91ySiTfzGRgz6PiUeLjlCIlViFnGWCom9+pXt7r4F5sot2uZdywKRvx6xszLNrzieMhjCKijyGj0aD"
            "lk5/nVd9omN5qG13rHlytX9yuopvwJZrx6Fnzqpl0rFi1SaCjzF/lTx8mEV5oE11plZzq2JwsW1ttXhpvn5nwohjypVh0K"
            "Fd2Kpb27BZ3iZ6lC94mD51nkZxpE9vrFdrsGNpt21lunpixH9gyIldzpVZ1aJW3apT4LFS5MoOHSY="
        ),
        channels=3,
        off=3,
    ),
    "jpeg_gray": KeptPicture(
        (
            "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAUDBAQEAwUEBAQFBQUGBwwIBwcHBw8LCwkMEQ8SEhEPERETFhwXExQaFRERGC"
            "EYGh0dHx8fExciJCIeJBweHx7/wAALCAAMAA8BAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAA"
            "AgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3OD"
            "k6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLD"
            "xMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/APNvBGifc+SvcvBmifux8nauO8EWkHyfLX"
            "uPgy0g8sfL2r//2Q=="
        ),
        (
            "eNqTVzOwcvIOi03Pr2zsnjpHRdvU3j0wOimnpK5twqyF2kY2bn7hSZnF1a290xcuN7Rw8gmJzQApnTx3+VozW/fAyORckN"
            "IZi9ZstnH2DY/PLK5q6Zk2b8Wmnc5eIXFp+VUgpUvX79zv4R+ZnF1SD1K6asu+o/5hCZlF1a0gpRt3HTkdEp2aX97YPWn2"
            "4rXb9p+8AHRAWV3HpJlApXuPXbiekF5Y3dwzfd7y9TsPnb56BwDuEViG"
        ),
        channels=1,
        off=3,
    ),
    "webp_lossless": KeptPicture(
        ("UklGRjQAAABXRUJQVlA4TCgAAAAvDsACALmM6H/sKl6H6H+ASNvGv8f5GBo+OxYLpnh3JI1CTAAvo3wE"),
        (
            "eNoFwVFL20AAAOC/k+c839MYYYyxHeKknCIqh0qwR7ASrhKsHK2E9ghtCdcSrBxWQnsEK+EqwUqwUqaUOcocsg0fxp72M/"
            "Z9xiswf70BL++s549wsYyeEJ5vkIdtOttj032eUzE5kllVjes6bRrPb83Fe/AErfkKfFhDsy083SU5oZMDlh3y8bFIT+SI"
            "q6Sth11j/sF8WAKzgjVdhzlGExtnDhm7NPXYiPHEF8NAxqHqR1pKY7ps5ghMNqxsG473ULqPR5QkR3RYZXGd95tCCtk7Vd"
            "G57gyMbM0cb4F01xoRmByg4SGOj0n/hErOem0edUXnTIYXqqV0cGWMsJnYYOhYsQv7HpIM93wSBbQTsjDiLSmCWDYS5ae6"
            "lhnxntnfB5JavSMYVVGnjsMmaQkanLLGOfcHonYpmVaVG+3dGb0DMzoEnWMrPIEtjoI2bnSJf0ZrF4wpXrkS3rUs3yr3Xp"
            "cejdAzWwwEvtUIoB+iWoSZJJWYegkrp9zNRCmXzkwV59peGI2q6ddBrWkxASunyDvH5QFxL2lJM+eGF++E/UXufFX4u978"
            "aTBuVtrA61rlM+heoJLCzhUpXlP7lu3cc/woNr/J9R9q9bcu/DHKoelGoCQtJ4bFBNkp3skIzunmjK3P+epCFF7k51e19F"
            "d/+vcft8AdLg=="
        ),
        channels=3,
        off=0,
    ),
    "webp_gray": KeptPicture(
        ("UklGRjoAAABXRUJQVlA4IC4AAACwAQCdASoPAAwAAMASJaQAAjUligVAAP7/MiY97m7VcVTyP2EYpKl8pxbkGqAA"),
        (
            "eNpNkTsLgQEYRv+LQSkGGUghym0gRRTylVu5FRGi3CJEiChEroWUayEDyUCyGAwGv8VTlm9/Op33vBQKhUajsVgsLpcrkU"
            "gUCoVOpzOZTA6Hw+v1RiKRZDJZLBbr9Xqn06FSqQwGg8PhCAQCuVyuUqkMBoPZbHa73X6/PxaLZTKZSqXSarUGgwGdTgeW"
            "z+eLxWIsgcUSWCyBxRLYRqPR6/Wm0ymTyQRWJBIBq9FogLXZbB6PJxQKAZvL5YBtt9uj0Wg+n7PZbAjIZDKyQCAQSCQS2W"
            "y2Wq1CYDgcYrndbnk8Hu5SKpVkgWg0imWpVGo2m/1+fzabbTab4/EoFAohoFarjUaj3W6HQDgcBhaqtVoNBcbj8WKx2O/3"
            "5/NZKpVCQK/XEwThdDp9Ph+w6XS6XC7jLmBx13q9BvZ6vUJAq9UiLLBYAptKpQqFApbATiaT5XJ5OBwul8vj8UABCFit1r"
            "9APB7P5/O4C0sUgMBut4PA/X5/vV4oYLFYUCAYDJILQBUFsDydTrfbDcvP54MCLpcLrcgv6Ha7KLBarf6qz+fz/X5/v98f"
            "wUwKDg=="
        ),
        channels=3,
        off=2,
    ),
    "jpeg2000_reversible": KeptPicture(
        (
            "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAADAAAAA8AAwcHAAAAAAAPY29scg"
            "EAAAAAABAAAAD2anAyY/9P/1EALwAAAAAADwAAAAwAAAAAAAAAAAAAAA8AAAAMAAAAAAAAAAAAAwcBAQcBAQcBAf9SAAwA"
            "AAABAAMEBAAB/1wADUBASEhQSEhQSEhQ/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS40/5AACgAAAA"
            "AAdQAB/5PPtBQJUjWlf8+0FAPkGHAPz7QQB7bhR8PqAwANAFPA+QHAOggOBo8BwfODgHQQDPoXCMHzgwAb9brAfCHB84QA"
            "HPQfDj8ZDsD5AcHzhAAb7l8Mv1ARgKB8gYBB5gdk13+gfIDAQI4D/9k="
        ),
        (
            "eNoFwVFL20AAAOC/k+c839MYYYyxHeKknCIqh0qwR7ASrhKsHK2E9ghtCdcSrBxWQnsEK+EqwUqwUqaUOcocsg0fxp72M/"
            "Z9xiswf70BL++s549wsYyeEJ5vkIdtOttj032eUzE5kllVjes6bRrPb83Fe/AErfkKfFhDsy083SU5oZMDlh3y8bFIT+SI"
            "q6Sth11j/sF8WAKzgjVdhzlGExtnDhm7NPXYiPHEF8NAxqHqR1pKY7ps5ghMNqxsG473ULqPR5QkR3RYZXGd95tCCtk7Vd"
            "G57gyMbM0cb4F01xoRmByg4SGOj0n/hErOem0edUXnTIYXqqV0cGWMsJnYYOhYsQv7HpIM93wSBbQTsjDiLSmCWDYS5ae6"
            "lhnxntnfB5JavSMYVVGnjsMmaQkanLLGOfcHonYpmVaVG+3dGb0DMzoEnWMrPIEtjoI2bnSJf0ZrF4wpXrkS3rUs3yr3Xp"
            "cejdAzWwwEvtUIoB+iWoSZJJWYegkrp9zNRCmXzkwV59peGI2q6ddBrWkxASunyDvH5QFxL2lJM+eGF++E/UXufFX4u978"
            "aTBuVtrA61rlM+heoJLCzhUpXlP7lu3cc/woNr/J9R9q9bcu/DHKoelGoCQtJ4bFBNkp3skIzunmjK3P+epCFF7k51e19F"
            "d/+vcft8AdLg=="
        ),
        channels=3,
        off=0,
    ),
    "jpeg2000_irreversible": KeptPicture(
        (
            "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAADAAAAA8AAwcHAAAAAAAPY29scg"
            "EAAAAAABAAAAC3anAyY/9P/1EALwAAAAAADwAAAAwAAAAAAAAAAAAAAA8AAAAMAAAAAAAAAAAAAwcBAQcBAQcBAf9SAAwA"
            "AAABAAMEBAAA/1wAF0JnOGdQZ1BnaFAFUAVQR1fTV9NXYv9kACUAAUNyZWF0ZWQgYnkgT3BlbkpQRUcgdmVyc2lvbiAyLj"
            "UuNP+QAAoAAAAAACwAAf+TxwQJWMfMEAT7Fo7CIAbWwRANAYDAiA0AgICAgICA/9k="
        ),
        (
            "eNo1yt9TEkEAAOA/557u+V572GaaHmq2F5vtwZwba8rTOziZ1RMG9HCB4CDE5ccgiO2RGl7grk12mCBaJlZDYjP53zQ50/"
            "f8STd35D9A+X0fXD2CPxG6fKqeP9PONHwSJH2L9ldYP+X1s7yXF728dH1XHt9TRg/B9wl4MYm+TKuDGe04gI8w8aPUJ8x3"
            "PL/AfSr8ojR8IF9A5etjMJiEveeoO6semtrBIt6PkU6CdnKsU/Q6Vd6ui3Zd6k3Ix0+U7hT4+AKKAOpgdS+i7dr4bYq4ee"
            "pWmNvw3CZ3t4W7I4kpmU8r7RnQMuH2EnKX1UZC23BwpUDKVVpmrPzOK7d5iYsSl3ZfyjuzSnMebIVhLY4qr9RiTlsr4twG"
            "ybrUaTGHe84hd3zhdKVGUK6HlGoYlG24nkav19RMSUvW8KpL4nvUFsz2PbvP7YGwT6XSolyMKGs2yKVhuoASFdXe1KJNHG"
            "6RJUGtLrMGnnXOraGwhlI+KudsJZMCyTyMV1BsUw03tYUWDu2T+U/UPGHmN8/8wc2RMEdSdkXOrCqpDFgtwOUqimypi9ta"
            "yMPBAxI4osYpM4aeMeLGlTDGkmPLaaIkMyC+DmMbKPxGXdjR5t/jwAdiHFH9jOmXnj7i+ljoYylzmxMOiFMYraEldpvb/7"
            "L++X/+xefGYu76L/wzIf0="
        ),
        channels=3,
        off=2,
    ),
}
_BY_FILE = {kept.raw: kept for kept in KEPT.values()}


def kept_picture(raw: bytes) -> DecodedPicture | None:
    """What a decoder makes of one of these files; None of any other."""
    kept = _BY_FILE.get(raw)
    return None if kept is None else kept.picture
