from lielab.show.sphere_figures import *
