"use strict";
// Click zooms to a frame, Escape or "Reset zoom" out again; "/", Ctrl-F or "Search" searches by a
// regular expression. The address keeps both: FILE.svg#zoom=NUMBER&search=WORDS
(function () {
    const LETTER_WIDTH = 7;
    const svg = document.documentElement;
    const byId = (id) => document.getElementById(id);
    const frames = Array.from(document.querySelectorAll("#frames > g")).map((element, number) => {
        const rect = element.querySelector("rect");
        const title = element.querySelector("title").textContent;
        return {
            element, number, rect, title, name: title.split("\n")[0],
            text: element.querySelector("text"),
            x: parseFloat(rect.getAttribute("x")),
            width: parseFloat(rect.getAttribute("width")),
            y: parseFloat(rect.getAttribute("y")),
        };
    });
    const details = byId("details").textContent;
    let zoomed = 0, words = "";

    function label(frame, percent) {
        const room = Math.floor(svg.clientWidth * percent / 100 / LETTER_WIDTH);
        if (room < 3)
            return "";
        return frame.name.length <= room ? frame.name : frame.name.slice(0, room - 2) + "..";
    }

    function place(frame, x, width) {
        frame.rect.setAttribute("x", x + "%");
        frame.rect.setAttribute("width", width + "%");
        frame.text.setAttribute("x", x + "%");
        frame.text.textContent = label(frame, width);
    }

    function show() {
        const target = frames[zoomed];
        const end = target.x + target.width, least = 1e-6;
        for (const frame of frames) {
            const isAbove = frame.y < target.y;
            const outside = frame.x + frame.width <= target.x + least || frame.x >= end - least;
            frame.element.style.display = outside ? "none" : "";
            frame.element.classList.toggle("above", isAbove && !outside);
            if (outside)
                continue;
            if (isAbove)
                place(frame, 0, 100);
            else
                place(frame, (frame.x - target.x) * 100 / target.width,
                      frame.width * 100 / target.width);
        }
    }

    // The share of the whole that the found frames cover; one inside another counts once.
    function covered(found) {
        let end = 0, sum = 0;
        found.sort((a, b) => a.x - b.x || b.width - a.width);
        for (const frame of found) {
            const from = Math.max(end, frame.x), to = frame.x + frame.width;
            if (to > from)
                sum += to - from;
            end = Math.max(end, to);
        }
        return sum;
    }

    function search() {
        let pattern = null;
        try {
            pattern = words ? new RegExp(words) : null;
        } catch (error) {
            byId("matched").textContent = error.message;
            return;
        }
        const found = frames.filter((frame) => pattern && pattern.test(frame.name));
        for (const frame of frames)
            frame.element.classList.remove("found");
        for (const frame of found)
            frame.element.classList.add("found");
        byId("matched").textContent =
            pattern ? words + ": " + found.length + " frames, " + covered(found).toFixed(2) + "%" : "";
    }

    function remember() {
        const parts = new URLSearchParams();
        if (zoomed)
            parts.set("zoom", zoomed);
        if (words)
            parts.set("search", words);
        history.replaceState(null, "", "#" + parts.toString());
    }

    function zoom(number) {
        zoomed = number;
        show();
        remember();
    }

    function ask() {
        const answer = prompt("Regular expression, empty for none", words);
        if (answer === null)
            return;
        words = answer;
        search();
        remember();
    }

    if (!frames.length)
        return;
    for (const frame of frames) {
        frame.element.addEventListener("click", () => zoom(frame.number));
        frame.element.addEventListener("mouseover", () => {
            byId("details").textContent = frame.title.split("\n").join("   ");
        });
        frame.element.addEventListener("mouseout", () => { byId("details").textContent = details; });
    }
    byId("reset").addEventListener("click", () => zoom(0));
    byId("search").addEventListener("click", ask);
    window.addEventListener("resize", show);
    window.addEventListener("keydown", (event) => {
        if (event.key === "Escape")
            zoom(0);
        else if (event.key === "/" || (event.ctrlKey && event.key === "f")) {
            event.preventDefault();
            ask();
        }
    });
    const address = new URLSearchParams(location.hash.slice(1));
    zoomed = Math.min(Math.max(Number(address.get("zoom")) || 0, 0), frames.length - 1);
    words = address.get("search") || "";
    show();
    search();
})();
