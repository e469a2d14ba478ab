// Return the texts whose contrast to what is behind them is below 4.5:1, each with that.
// A colour is painted to know its numbers, whatever notation it is in.
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

function over(color, behind) {
  for (const style of [`rgb(${behind.join(" ")})`, color]) {
    canvas.fillStyle = style;
    canvas.fillRect(0, 0, 1, 1);
  }
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

function ground(element) {
  const behind = element.parentElement ? ground(element.parentElement) : [255, 255, 255];
  return over(getComputedStyle(element).backgroundColor, behind);
}

// The relative luminance of WCAG 2.2.
function light(color) {
  const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = color.map((part) => linear(part / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function isShown(text) {
  const element = text.parentElement;
  return text.textContent.trim() !== "" && element.checkVisibility() && !element.matches("title, option");
}

const faint = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let text = walker.nextNode(); text; text = walker.nextNode()) {
  if (!isShown(text)) continue;
  const element = text.parentElement;
  const behind = ground(element);
  const { color, fill } = getComputedStyle(element);
  const front = over(element.closest("svg") ? fill : color, behind);
  const [more, less] = [light(front), light(behind)].sort((a, b) => b - a);
  const contrast = (more + 0.05) / (less + 0.05);
  if (contrast < 4.5) faint.push(`${text.textContent.trim().slice(0, 30)}: ${contrast.toFixed(2)}`);
}
return faint;
