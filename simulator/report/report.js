// Shows the values of all curves at the pointer. The report says the same without it.
(function () {
  'use strict';

  function axisOf(text) {
    const [scale, unit, from, to, start, end] = text.split(' ');
    const map = { linear: (v) => v, log: Math.log, log1p: Math.log1p }[scale];
    const back = { linear: (v) => v, log: Math.exp, log1p: Math.expm1 }[scale];
    const low = map(Number(from));
    const high = map(Number(to));
    return { unit, start: Number(start), end: Number(end),
      valueAt: (at) => back(low + (at - Number(start)) / (Number(end) - Number(start)) * (high - low)) };
  }

  function threeDigits(value) {
    const size = Math.abs(value);
    return size < 9.995 ? value.toFixed(2) : size < 99.95 ? value.toFixed(1) : value.toFixed(0);
  }

  function duration(seconds) {
    if (seconds < 1) return threeDigits(seconds * 1000) + ' ms';
    if (seconds < 120) return threeDigits(seconds) + ' s';
    const whole = Math.round(seconds);
    const two = (n) => String(n).padStart(2, '0');
    if (seconds < 7200) return Math.floor(whole / 60) + ' min ' + two(whole % 60) + ' s';
    if (seconds < 172800) return Math.floor(whole / 3600) + ' h ' + two(Math.floor(whole % 3600 / 60)) + ' min';
    return Math.floor(whole / 86400) + ' d ' + Math.floor(whole % 86400 / 3600) + ' h';
  }

  function shown(value, unit) {
    if (unit === 'duration') return duration(value);
    if (unit === 'share') return (value * 100).toFixed(1) + ' %';
    if (unit === 'factor') return threeDigits(value) + ' ×';
    return String(Math.round(value));
  }

  // Where a curve is at a coordinate along x (0) or y (1), straight between its points; nothing beyond its ends.
  function across(points, along, at) {
    for (let i = 1; i < points.length; i += 1) {
      const from = points[i - 1];
      const to = points[i];
      if (Math.min(from[along], to[along]) <= at && at <= Math.max(from[along], to[along])) {
        const span = to[along] - from[along];
        const part = span === 0 ? 0 : (at - from[along]) / span;
        return from[1 - along] + part * (to[1 - along] - from[1 - along]);
      }
    }
    return undefined;
  }

  function addRow(table, line, text) {
    const row = table.insertRow();
    const sample = line.ownerSVGElement.cloneNode(false);
    sample.setAttribute('viewBox', '0 0 34 10');
    sample.setAttribute('class', 'sample');
    const stroke = document.createElementNS(line.namespaceURI, 'line');
    stroke.setAttribute('class', line.getAttribute('class'));
    Object.entries({ x1: 1, y1: 5, x2: 33, y2: 5 }).forEach(([name, value]) => stroke.setAttribute(name, value));
    sample.append(stroke);
    row.insertCell().append(sample);
    row.insertCell().textContent = line.dataset.name;
    row.insertCell().textContent = text;
  }

  function prepare(svg) {
    const axes = [axisOf(svg.dataset.x), axisOf(svg.dataset.y)];
    const along = svg.dataset.along === 'x' ? 0 : 1;
    const lines = Array.from(svg.querySelectorAll('polyline')).reverse().map((line) =>
      ({ line, points: line.getAttribute('points').split(' ').map((pair) => pair.split(',').map(Number)) }));
    const cursor = document.createElementNS(svg.namespaceURI, 'line');
    cursor.setAttribute('class', 'cursor');
    // Browsers would show the title beside the values.
    const title = svg.querySelector('title');
    svg.setAttribute('aria-label', title.textContent);
    title.remove();

    function leave() {
      box.hidden = true;
      cursor.remove();
    }
    svg.addEventListener('pointerleave', leave);
    svg.addEventListener('pointermove', (event) => {
      const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const at = [place.x, place.y];
      const inside = axes.every((axis, i) =>
        Math.min(axis.start, axis.end) <= at[i] && at[i] <= Math.max(axis.start, axis.end));
      if (!inside) return leave();
      const [x, y] = axes;
      const ends = along === 0 ? { x1: at[0], x2: at[0], y1: y.start, y2: y.end }
        : { x1: x.start, x2: x.end, y1: at[1], y2: at[1] };
      Object.entries(ends).forEach(([name, value]) => cursor.setAttribute(name, value));
      svg.append(cursor);
      const table = document.createElement('table');
      table.createCaption().textContent = shown(axes[along].valueAt(at[along]), axes[along].unit);
      lines.forEach(({ line, points }) => {
        const value = across(points, along, at[along]);
        if (value !== undefined) addRow(table, line, shown(axes[1 - along].valueAt(value), axes[1 - along].unit));
      });
      box.replaceChildren(table);
      box.hidden = false;
      const left = event.clientX + 16 + box.offsetWidth < window.innerWidth
        ? event.clientX + 16 : Math.max(event.clientX - 16 - box.offsetWidth, 0);
      box.style.left = left + 'px';
      box.style.top = Math.min(event.clientY + 16, window.innerHeight - box.offsetHeight) + 'px';
    });
  }

  const box = document.createElement('div');
  box.className = 'values';
  box.hidden = true;
  box.setAttribute('aria-hidden', 'true');
  document.body.append(box);
  document.querySelectorAll('svg[data-along]').forEach(prepare);
}());
