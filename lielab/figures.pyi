from lielab.show.figures import *
