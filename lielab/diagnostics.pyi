from lielab.study.diagnostics import *
