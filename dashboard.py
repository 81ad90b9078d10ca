"""The entry. The server imports this file and gets ready at once; for every run of a visitor's page it is the script."""

import streamlit as st

if __name__ == "__main__":
    from views import every_page

    every_page.draw()
else:
    from views.ready import getting_ready

    app = st.App(__file__, lifespan=getting_ready)
