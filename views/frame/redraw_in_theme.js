// A change of the theme draws the page anew: the colors of its cards and charts come from the server.
// A run that has begun may still tell the server the theme before: hence another look later.
(() => {
  const app = document.querySelector('[data-testid="stApp"]');
  const redraw = () => {
    if (getComputedStyle(app).colorScheme !== window.drawnTheme) {
      document.querySelector(".st-key-redraw button")?.click();
      window.setTimeout(redraw, 2000);
    }
  };
  window.drawnTheme = "THEME";
  window.themeObserver?.disconnect();
  window.themeObserver = new MutationObserver(() => window.setTimeout(redraw, 200));
  window.themeObserver.observe(app, { attributes: true, attributeFilter: ["class", "style"] });
})();
