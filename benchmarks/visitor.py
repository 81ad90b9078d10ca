"""One visitor: a Streamlit session over its websocket.

It changes a widget and waits until the script has run.
"""

import random
import time

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

PATIENCE_SECONDS = 120
INTERRUPTED = ForwardMsg.FINISHED_EARLY_FOR_RERUN


def numbers(widget):
    """Allowed numbers near the default of a field."""
    near = [widget.default * factor for factor in (0.5, 1, 2, 4)]
    allowed = [
        value
        for value in near
        if not ((widget.has_min and value < widget.min) or (widget.has_max and value > widget.max))
    ]
    allowed = [float(round(value)) for value in allowed] if widget.data_type == 0 else allowed
    return allowed if any(allowed) else []


CHOICES = {  # kind of widget -> the field of its state, and what may be chosen in it
    "selectbox": ("string_value", lambda widget: list(widget.options)),
    "checkbox": ("bool_value", lambda _: [True, False]),
    "button_group": (
        "string_array_value",
        lambda widget: [option.content for option in widget.options],
    ),
    "number_input": ("double_value", numbers),
}


class Visitor:
    """A browser without a screen.

    It remembers the page's widgets and sends all of their values with every change.
    """

    def __init__(self, address, seed, query=""):
        self.address, self.query, self.dice = address, query, random.Random(seed)
        self.values = {}  # id -> (field of the state, value)
        self.choices = {}  # id -> (field, what may be chosen)
        self.text_areas = {}  # label -> id
        self.page, self.errors = "", 0

    async def open(self):
        """Connect and run the script once; the time that it took. [s]"""
        begun = time.perf_counter()
        patience = {"open_timeout": PATIENCE_SECONDS, "ping_interval": None, "proxy": None}
        size = {"subprotocols": ["streamlit"], "max_size": 2**26, "compression": None}
        self.socket = await connect(
            f"ws://{self.address}/_stcore/stream",
            origin=f"http://{self.address}",
            **size,
            **patience,
        )
        await self._run()
        return time.perf_counter() - begun

    async def change(self):
        """Choose something else in one widget; the time until the script has run. [s]"""
        name = self.dice.choice(list(self.choices))
        field, options = self.choices[name]
        self.values[name] = (field, self.dice.choice(options))
        begun = time.perf_counter()
        await self._run()
        return time.perf_counter() - begun

    async def write(self, label, text):
        """Write into a field of several lines; the time until the script has run. [s]"""
        self.values[self.text_areas[label]] = ("string_value", text)
        begun = time.perf_counter()
        await self._run()
        return time.perf_counter() - begun

    async def close(self):
        """Leave the page."""
        await self.socket.close()

    async def _run(self):
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string, rerun.page_script_hash = self.query, self.page
        for name, (field, value) in self.values.items():
            state = rerun.widget_states.widgets.add(id=name)
            if field == "string_array_value":
                state.string_array_value.data.append(value)
            else:
                setattr(state, field, value)
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg.FromString(await self.socket.recv())
            kind = answer.WhichOneof("type")
            if kind == "new_session":
                self.page, self.choices = answer.new_session.page_script_hash, {}
            elif kind == "delta" and answer.delta.WhichOneof("type") == "new_element":
                self._note(answer.delta.new_element)
            elif kind == "page_info_changed":
                self.query = answer.page_info_changed.query_string
            elif kind == "script_finished" and answer.script_finished != INTERRUPTED:
                return

    def _note(self, element):
        """Count an error box; remember a widget and what may be chosen in it."""
        kind = element.WhichOneof("type")
        self.errors += kind == "exception"
        if kind == "text_area":
            self.text_areas[element.text_area.label] = element.text_area.id
        if kind in CHOICES and not getattr(element, kind).disabled:
            field, options_of = CHOICES[kind]
            if options := options_of(getattr(element, kind)):
                self.choices[getattr(element, kind).id] = (field, options)
