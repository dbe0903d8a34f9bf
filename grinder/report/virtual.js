/* A list of any length of which only the rows in sight exist. */
class Virtual {
  constructor(element, row_height, render) {
    this.element = element;
    this.row_height = row_height;
    this.render = render;
    this.cursor = -1;
    this.inner = document.createElement("div");
    this.inner.className = "virtual";
    element.replaceChildren(this.inner);
    element.onscroll = () => this.draw(false);
    this.observer = new ResizeObserver(() => requestAnimationFrame(() => this.draw(true)));
    this.observer.observe(element);
    this.set_count(0);
  }

  set_count(count) {
    this.count = count;
    this.inner.style.height = count * this.row_height + "px";
    this.draw(true);
  }

  draw(all) {
    const { element, row_height } = this;
    const first = Math.max(0, Math.floor(element.scrollTop / row_height) - 6);
    const end = Math.min(this.count, Math.ceil((element.scrollTop + element.clientHeight) / row_height) + 6);
    if (!all && first === this.first && end === this.end) return;
    this.first = first; this.end = end;
    let html = "";
    for (let i = first; i < end; i++) html += this.render(i, `style="top:${i * row_height}px"`, i === this.cursor);
    this.inner.innerHTML = html;
  }

  show(i, middle) {
    const { element, row_height } = this, top = i * row_height;
    if (middle) element.scrollTop = top - element.clientHeight * middle;
    else if (top < element.scrollTop) element.scrollTop = top;
    else if (top + row_height > element.scrollTop + element.clientHeight) element.scrollTop = top + row_height - element.clientHeight;
  }

  move_to(i) {
    this.cursor = Math.max(0, Math.min(this.count - 1, i));
    this.show(this.cursor);
    this.draw(true);
  }
}
