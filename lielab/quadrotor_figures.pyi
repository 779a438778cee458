from lielab.show.quadrotor_figures import *
