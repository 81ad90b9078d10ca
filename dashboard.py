"""The entry of the app for the server, and the script of every page."""

import streamlit as st

if __name__ == "__main__":
    from views.frame import every_page

    every_page.draw()
else:
    from views.frame.ready import getting_ready

    app = st.App(__file__, lifespan=getting_ready)
