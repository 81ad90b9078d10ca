"""One visitor: a session over Streamlit's websocket, which changes a widget of the page and waits until the script has run."""

import random
import time

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

PATIENCE_SECONDS = 120
INTERRUPTED = ForwardMsg.FINISHED_EARLY_FOR_RERUN


class Visitor:
    """A browser without a screen: it remembers the page's widgets and sends all of their values with every change."""

    def __init__(self, address, seed, query=""):
        self.address, self.query, self.dice = address, query, random.Random(seed)
        self.values = {}  # id -> (field of the state, value)
        self.choices = {}  # id -> (field, what may be chosen)
        self.page, self.errors = "", 0

    async def open(self):
        """Connect and run the script once; the seconds that it took."""
        begun = time.perf_counter()
        self.socket = await connect(
            f"ws://{self.address}/_stcore/stream",
            origin=f"http://{self.address}",
            subprotocols=["streamlit"],
            max_size=2**26,
            compression=None,
            open_timeout=PATIENCE_SECONDS,
            ping_interval=None,
            proxy=None,
        )
        await self._run()
        return time.perf_counter() - begun

    async def change(self):
        """Choose something else in one widget; the seconds until the script has run."""
        name = self.dice.choice(list(self.choices))
        field, options = self.choices[name]
        self.values[name] = (field, self.dice.choice(options))
        begun = time.perf_counter()
        await self._run()
        return time.perf_counter() - begun

    async def close(self):
        """Leave the page."""
        await self.socket.close()

    async def _run(self):
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_script_hash = self.query, self.page
        for name, (field, value) in self.values.items():
            state = asked.widget_states.widgets.add(id=name)
            if field == "string_array_value":
                state.string_array_value.data.append(value)
            else:
                setattr(state, field, value)
        await self.socket.send(message.SerializeToString())
        while True:
            told = ForwardMsg.FromString(await self.socket.recv())
            kind = told.WhichOneof("type")
            if kind == "new_session":
                self.page, self.choices = told.new_session.page_script_hash, {}
            elif kind == "delta" and told.delta.WhichOneof("type") == "new_element":
                self._met(told.delta.new_element)
            elif kind == "page_info_changed":
                self.query = told.page_info_changed.query_string
            elif kind == "script_finished" and told.script_finished != INTERRUPTED:
                return

    def _met(self, element):
        """Note an error box, or a widget and what may be chosen in it."""
        kind = element.WhichOneof("type")
        self.errors += kind == "exception"
        widget = getattr(element, kind)
        if kind == "selectbox" and widget.options and not widget.disabled:
            self.choices[widget.id] = ("string_value", list(widget.options))
        elif kind == "checkbox" and not widget.disabled:
            self.choices[widget.id] = ("bool_value", [True, False])
        elif kind == "button_group" and widget.options and not widget.disabled:
            self.choices[widget.id] = ("string_array_value", [option.content for option in widget.options])
        elif kind == "number_input" and not widget.disabled:
            near = [widget.default * factor for factor in (0.5, 1, 2, 4)]
            kept = [value for value in near if not ((widget.has_min and value < widget.min) or (widget.has_max and value > widget.max))]
            whole = [float(round(value)) for value in kept] if widget.data_type == 0 else kept
            if whole and whole[-1]:
                self.choices[widget.id] = ("double_value", whole)
