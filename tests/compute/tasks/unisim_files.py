"""Writes small copies of UniSim-Bench's data sets in their own layouts and column names, evaluated and training."""

import pickle
import shutil
import tarfile
from itertools import product

import numpy as np

from compute.tasks.unisim import CIFAR, REPO, image_pairs
from tests.compute.tasks import hub_files
from tests.compute.tasks.files import put

BAPPS = ("cnn", "color", "deblur", "frameinterp", "superres", "traditional")


def nights():
    table = """id,left_vote,right_vote,votes,ref_path,left_path,right_path,prompt,split,is_imagenet
0,1,0,6,ref/0.png,distort/0_0.png,distort/0_1.png,p,test,True
1,0,1,7,ref/1.png,distort/1_0.png,distort/1_1.png,p,test,True
2,1,0,5,ref/2.png,distort/2_0.png,distort/2_1.png,p,test,True
3,0,1,9,ref/3.png,distort/3_0.png,distort/3_1.png,p,train,True
"""
    files = {f"nights/ref/{at}.png": 10 * at for at in range(4)}
    return {"nights/data.csv": table, **files} | {
        f"nights/distort/{at}_{side}.png": 10 * at + 1 + side for at, side in product(range(4), range(2))
    }


def bapps():
    files = {}
    for subset, at in product(BAPPS, range(14)):
        place = f"bapps/val/{subset}"
        files |= {f"{place}/{part}/{at:06d}.png": at for part in ("ref", "p0", "p1")}
        files[f"{place}/judge/{at:06d}.npy"] = np.array([0.8 if at == 1 else 0.2], dtype=np.float32)
    return files


PIEAPP = """ ref. image, distorted image A, distorted image B, preference for A
scene.png,a.png,b.png,0.9
scene.png,a.png,c.png,0.5
scene.png,scene.png,c.png,0.9
scene.png,b.png,c.png,0.1
"""
PIEAPP_TRAINING = """ ref. image, distorted image A, distorted image B, raw preference, processed preference for A
scene.png,a.png,b.png,0,0.9
scene.png,a.png,c.png,0,0.45
scene.png,scene.png,c.png,0,0.9
scene.png,b.png,c.png,0,0.2
"""


def pieapp(split="test", scene="scene1", labels=PIEAPP, red=1):
    return {
        f"pie_app/{split}_reference_list.txt": f"{scene}.png\n",
        f"pie_app/labels/{split}/{scene}_pairwise_labels.csv": labels.replace("scene", scene),
        f"pie_app/reference_images/{split}/{scene}.png": red,
        **{f"pie_app/distorted_images/{split}/{scene}/{name}.png": red + 49 + at for at, name in enumerate("abc")},
    }


def pieapp_training():
    return pieapp("train", "scene2", PIEAPP_TRAINING, 301)


def kadid_names(images):
    return [
        f"kadid10k/images/I{image:02d}_{distortion:02d}_{severity:02d}.png"
        for image, distortion, severity in product(images, image_pairs.KADID_DISTORTIONS, range(1, 6))
    ]


def kadid():
    return {name: at // 5 for at, name in enumerate(kadid_names(range(73, 82)))}


def kadid_training():
    """Never shown: 9,000 pictures would take seconds."""
    return {name: name.encode() for name in kadid_names(range(1, 73))}


def koniq():
    return {
        "koniq10k/koniq10k_distributions_sets.csv": """image_name,MOS,set
1.jpg,0,test
2.jpg,10,test
3.jpg,20,test
4.jpg,30,training
""",
        "koniq10k/koniq10k_indicators.csv": """image_id,brightness,contrast,colorfulness,sharpness
1,1,1,1,1
2,0.5,2,2,2
3,0.33,3,3,3
4,0.25,4,4,4
""",
        **{f"koniq10k/1024x768/{at + 1}.jpg": 40 * at for at in range(4)},
    }


def pipal():
    return {
        "PIPAL/Val_Ref/A0001.bmp": 1,
        "PIPAL/val_label.txt": """A0001_00.bmp,1600
A0001_01.bmp,1600
A0001_02.bmp,1600
A0001_03.bmp,1600
A0001_04.bmp,1600
A0001_05.bmp,1600
A0001_06.bmp,1200
A0001_07.bmp,1200
B0001_00.bmp,1000
""",
        **{f"PIPAL/Val_Dist/A0001_0{at}.bmp": at for at in range(8)},
    }


def pipal_training():
    return {
        "PIPAL/Train_Ref/C0001.bmp": 600,
        "PIPAL/Train_Label/C0001.txt": "C0001_00.bmp,1600\nC0001_01.bmp,1200\nC0001_02.bmp,1200\n",
        **{f"PIPAL/Dist_Imgs/C0001_0{at}.bmp": 610 + at for at in range(3)},
    }


def sice():
    scenes = product(("Dataset_Part1", "Dataset_Part2"), range(10), range(3))
    files = {f"sice/{part}/{scene:03d}/{at}.jpg": 40 * at for part, scene, at in scenes}
    return {**files, "sice/Dataset_Part1/Label/000.JPG": 1}


def agiqa():
    table = """name,prompt,adj1,adj2,style,mos_quality,std_quality,mos_align,std_align
x0.jpg,x,,,,0,0,0.0,0
x1.jpg,x,,,,1,0,0.5,0
x2.jpg,x,,,,2,0,1.0,0
x3.jpg,x,,,,3,0,1.5,0
x4.jpg,x,,,,4,0,2.0,0
y0.jpg,y,,,,0,0,0.0,0
y1.jpg,y,,,,1,0,0.5,0
y2.jpg,y,,,,2,0,1.0,0
y3.jpg,y,,,,3,0,1.5,0
y4.jpg,y,,,,4,0,2.0,0
"""
    pictures = {f"agiqa-3k/images/{prompt}{at}.jpg": 40 * at for prompt, at in product("xy", range(5))}
    return {"agiqa-3k/data.csv": table, **pictures}


def hpdv2():
    """The last row is of an image that is damaged in the public data."""
    names = [[f"{at}_{place}.jpg" for place in range(9)] for at in range(3)]
    rows = [
        {"prompt": f"prompt {at}", "image_path": row, "rank": [(place + at) % 9 for place in range(9)]}
        for at, row in enumerate(names)
    ]
    rows.append({"prompt": "damaged", "image_path": ["00006811.jpg", "x.jpg"], "rank": [0, 1]})
    pictures = {f"hpdv2/test/{name}": at for row in names for at, name in enumerate(row)}
    return {"hpdv2/test.json": rows, **pictures}


def hpdv2_training():
    liked = [[1 - at % 2, at % 2] for at in range(6)]
    rows = [
        {"prompt": f"a {at}", "image_path": [f"{at}0.jpg", f"{at}1.jpg"], "human_preference": own}
        for at, own in enumerate(liked)
    ]
    rows.append({"prompt": "damaged", "image_path": ["00006811.jpg", "x.jpg"], "human_preference": [1, 0]})
    pictures = {
        f"hpdv2/train/{at}{place}.jpg": 400 + 10 * at + each
        for at, own in enumerate(liked)
        for place, each in enumerate(own)
    }
    return {"hpdv2/train.json": rows, **pictures}


def magicbrush_row(kind, names, words="make it red"):
    images = [f"MagicBrush/train/{name}.png" for name in names]
    return {"metadata": {"dataset": kind}, "image": images, "conversations": [{"value": "?"}, {"value": words}]}


def magicbrush():
    rows = [
        magicbrush_row("MagicBrush", "ab"),
        magicbrush_row("MagicBrush-Diff", "ab"),
        magicbrush_row("MagicBrush", "abc"),
    ]
    return {"MagicBrush/test.json": rows, "MagicBrush/test/a.png": 0, "MagicBrush/test/b.png": 1}


def magicbrush_training():
    rows = [magicbrush_row(kind, "cd", "make it blue") for kind in ("MagicBrush", "MagicBrush-Diff")]
    return {"MagicBrush/train.json": rows, "MagicBrush/train/c.png": 500, "MagicBrush/train/d.png": 501}


def hq_edit(split="test", names="ab", texts=("a cat", "a dog"), red=0):
    images = [f"HQ-Edit/images/{name}.png" for name in names]
    rows = [
        {"metadata": {"dataset": kind}, "image": images, "input": texts[0], "output": texts[1]}
        for kind in ("HQ-Edit", "HQ-Edit-Diff")
    ]
    return {f"HQ-Edit/{split}.json": rows, images[0]: red, images[1]: red + 1}


def hq_edit_training():
    return hq_edit("train", "cd", ("a tree", "a bush"), 520)


def cd_coco():
    return {
        "coco-triplets/resources/expert_worker_results_extended.csv": """\
Image_URL,max_score,OFA,GIT,Our,ExpNet-v2,BLIP-2,ViT-GPT2
one.jpg,3,3,0,0,1,1,1
two.jpg,2,2,0,0,0,0,0
""",
        "coco-triplets/resources/all_captions_extended.csv": """\
fname,OFA_Huge,GIT_Large,Ensemble,ExpansionNet_v2,BLIP_2,ViT_GPT2
one.jpg,OFA_Huge of one.jpg,GIT_Large of one.jpg,Ensemble of one.jpg,e,b,v
two.jpg,OFA_Huge of two.jpg,GIT_Large of two.jpg,Ensemble of two.jpg,e,b,v
""",
        "coco-triplets/coco/images/val2014/one.jpg": 0,
        "coco-triplets/coco/images/val2014/two.jpg": 1,
    }


def polaris():
    table = """img,refs,cand,score
a.jpg,"['A cat.', 'A pet.']",a car,0.25
a.jpg,['A dog.'],a dog,0.0
a.jpg,['A dog.'],a cow,0.75
"""
    return {"polaris/polaris_test.csv": table, "polaris/images/a.jpg": 1}


def polaris_training():
    table = """img,refs,cand,score
b.jpg,"['A bird.', 'A wing.']",a boat,0.25
b.jpg,['A dog.'],a cow,0.75
"""
    return {"polaris/polaris_train.csv": table, "polaris/images/b.jpg": 540}


def landmarks():
    box = [0, 0, 5, 5]
    truth = {
        "imlist": ["a", "b", "c", "d"],
        "qimlist": ["q", "r"],
        "gnd": [
            {"bbx": box, "easy": np.array([0]), "hard": np.array([1]), "junk": np.array([3])},
            {"bbx": box, "easy": [2], "hard": [], "junk": []},
        ],
    }
    files = {}
    for name in ("roxford5k", "rparis6k"):
        place = f"retrieval/revisitop/{name}"
        files |= {f"{place}/jpg/{image}.jpg": at for at, image in enumerate("abcdqr")}
        files[f"{place}/gnd_{name}.pkl"] = pickle.dumps(truth, protocol=2)
    return files


EVALUATED = {
    "nights": nights,
    "bapps": bapps,
    "pie_app": pieapp,
    "kadid10k": kadid,
    "koniq10k": koniq,
    "PIPAL": pipal,
    "sice": sice,
    "agiqa-3k": agiqa,
    "hpdv2": hpdv2,
    "MagicBrush": magicbrush,
    "HQ-Edit": hq_edit,
    "coco-triplets": cd_coco,
    "polaris": polaris,
    "retrieval": landmarks,
}
TRAINING = {  # beside the evaluated ones; of NIGHTS one table holds all splits
    "nights": dict,
    "pie_app": pieapp_training,
    "hpdv2": hpdv2_training,
    "MagicBrush": magicbrush_training,
    "HQ-Edit": hq_edit_training,
    "polaris": polaris_training,
    "kadid10k": kadid_training,
    "PIPAL": pipal_training,
}


def write(root, *names, packed=False, training=False):
    """The named data sets below `root`, as folders or as one tar each; with their training splits those of TRAINING,
    by default all."""
    place = root / REPO
    for name in names or TRAINING:
        put(place, EVALUATED[name]() | (TRAINING[name]() if training else {}))
        if packed:
            with tarfile.open(place / f"{name}.tar", "w") as archive:
                archive.add(place / name, arcname=name)
            shutil.rmtree(place / name)
    return place


def cifar(root):
    """CIFAR-100's test split as the hub has it: two images of every fine class."""
    rows = {"img": [hub_files.image(at) for at in range(200)], "fine_label": [at % 100 for at in range(200)]}
    hub_files.write(root / CIFAR, {"test": rows})
