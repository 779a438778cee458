from lielab.study.basin import *
