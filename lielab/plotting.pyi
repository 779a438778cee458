from lielab.show.plotting import *
