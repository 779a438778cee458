from lielab.show.animate import *
