"""What draws: pictures, films and widgets of the book, and the figures of the papers.

`plotting`, `animate` and `explore` are what a user calls (also `lielab.plotting` and so on); `figures` draws those of
celledoni with `quadrotor_figures`, `sphere_figures` those of ortolan. matplotlib and ipywidgets are imported where
they are used. It imports from `study`, `solve` and all below them; nothing but a page imports from here.
"""
