from lielab.show.explore import *
