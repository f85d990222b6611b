// SPDX-FileCopyrightText: 2026 The frame_ros authors
// SPDX-License-Identifier: Apache-2.0
// Draws a figure when it comes into view, in the reader's colour scheme, and lets go of 3D views that are far away.
(() => {
  'use strict';
  const PANEL = 118; // px, as in figures.py
  const NARROW = 560; // px; below, headings and legends need lines of their own
  const NARROW_RADAR = 760; // px; below, the names of its axes have no room
  const MOST_3D = 6; // browsers keep about 16 WebGL contexts
  const CONFIG = { displaylogo: false, responsive: true, displayModeBar: 'hover', plotlyServerURL: '', showSendToCloud: false,
    modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d', 'tableRotation', 'resetCameraLastSave3d'] };
  const BLUE = '#0072B2', SKY_BLUE = '#56B4E9'; // the first colour of the lines, on light and on dark
  const isDark = window.matchMedia('(prefers-color-scheme: dark)');
  const plots = [...document.querySelectorAll('.plot[data-figure]')];
  const drawn3d = [];

  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // On dark the first colour of the lines gives way to a lighter one, in bands too.
  function figureOf(plot) {
    const text = document.getElementById(plot.dataset.figure).textContent;
    return JSON.parse(isDark.matches ? text.replaceAll(BLUE, SKY_BLUE).replaceAll('rgba(0,114,178,', 'rgba(86,180,233,') : text);
  }

  function hasWebGL() {
    try {
      const canvas = document.createElement('canvas');
      return Boolean(canvas.getContext('webgl2') || canvas.getContext('webgl'));
    } catch (error) {
      return false;
    }
  }
  const canDraw3d = hasWebGL();
  document.documentElement.classList.toggle('no-webgl', !canDraw3d);

  function themed(figure) {
    const ink = colour('--plot-ink'), grid = colour('--grid'), quiet = colour('--quiet');
    const layout = figure.layout;
    layout.paper_bgcolor = layout.plot_bgcolor = 'rgba(0,0,0,0)';
    layout.font = { family: getComputedStyle(document.body).fontFamily, size: 12, color: ink };
    layout.hoverlabel = { bgcolor: colour('--card'), bordercolor: colour('--line'), font: { color: colour('--ink') } };
    layout.modebar = { bgcolor: 'rgba(0,0,0,0)', color: quiet, activecolor: ink };
    for (const key of Object.keys(layout).filter(k => /^[xy]axis/.test(k))) {
      Object.assign(layout[key], { gridcolor: grid, zerolinecolor: grid, linecolor: grid, spikecolor: quiet });
    }
    if (layout.scene) {
      for (const key of ['xaxis', 'yaxis', 'zaxis']) {
        Object.assign(layout.scene[key], { gridcolor: quiet, gridwidth: 1, zerolinecolor: quiet, color: ink, showbackground: true,
          backgroundcolor: colour('--soft'), tickfont: { size: 10 } });
        layout.scene[key].title.font = { size: 12 };
      }
    }
    if (layout.polar) {
      const axis = { gridcolor: grid, linecolor: grid };
      Object.assign(layout.polar, { bgcolor: 'rgba(0,0,0,0)' });
      Object.assign(layout.polar.radialaxis, axis, { tickfont: { size: 10, color: quiet } });
      Object.assign(layout.polar.angularaxis, axis, { tickfont: { size: 13, color: ink } });
    }
    for (const shape of layout.shapes || []) {
      if (shape.type === 'line') shape.line.color = ink;
    }
    for (const note of layout.annotations || []) {
      const isEvent = note.name === 'event';
      note.font = { size: isEvent ? 11 : 12, color: isEvent ? quiet : ink };
      if (note.name === 'heading') Object.assign(note, { bgcolor: colour('--card'), borderpad: 1, align: 'left' });
    }
    return figure;
  }

  // A view that is narrower than high shows less to the sides: it becomes lower, and the camera steps back.
  function fit3d(plot, layout) {
    const width = plot.clientWidth;
    layout.height = Math.min(layout.height, Math.max(300, Math.round(width * 1.05)));
    plot.style.minHeight = `${layout.height}px`;
    layout.scene.domain.y[0] = 66 / layout.height; // the colour bar is below
    const back = Math.max(1, 0.97 * layout.height / width) * (width < NARROW ? 1.12 : 1);
    for (const axis of ['x', 'y', 'z']) layout.scene.camera.eye[axis] *= back;
  }

  // The axes of a narrow radar chart have their ids and directions alone: the names would be cut off.
  function fitRadar(plot, { data, layout }) {
    if (plot.clientWidth >= NARROW_RADAR) return;
    const names = [...new Set(data[0].theta)];
    Object.assign(layout.polar.angularaxis, { tickmode: 'array', tickvals: names,
      ticktext: names.map(name => name.split(' ').slice(-2).join(' ')) });
    layout.margin.l = layout.margin.r = 56;
  }

  // Breaks a heading between its parts where it is wider than the room (px), a part that is wider itself before its
  // bracket; returns how many lines there are.
  function wrap(note, room) {
    const bare = text => text.replace(/<[^>]*>/g, '').length;
    const width = text => note.font.size * (0.58 * bare(text) + 0.06 * (text.match(/<b>.*?<\/b>/g) || []).reduce((n, b) => n + bare(b), 0));
    const lines = [''];
    for (const part of note.text.split('  ').flatMap(text => width(text) > room ? text.split(/ (?=\()/) : [text])) {
      const joined = lines.at(-1) ? `${lines.at(-1)}  ${part}` : part;
      if (lines.at(-1) && width(joined) > room) lines.push(part);
      else lines[lines.length - 1] = joined;
    }
    note.text = lines.join('<br>');
    return lines.length;
  }

  // Events stand above the headings, each in the first row in which it overlaps no other. Headings break, and panels
  // are higher, in a narrow view.
  function fitSeries(plot, layout) {
    const isNarrow = plot.clientWidth < NARROW, { margin } = layout;
    const headings = layout.annotations.filter(note => note.name === 'heading');
    let surround = layout.height - headings.length * PANEL;
    if (isNarrow) margin.l = 46;
    const room = plot.clientWidth - margin.l, height = headings.length * PANEL * (isNarrow ? 1.3 : 1);
    headings.forEach((note, i) => {
      if (isNarrow) note.font.size = 11;
      const extra = 15 * (wrap(note, room) - 1) / height;
      const axis = layout[i ? `yaxis${i + 1}` : 'yaxis'];
      axis.domain = [axis.domain[0], axis.domain[1] - extra];
      note.y -= extra;
    });
    const scale = (plot.clientWidth - margin.l - margin.r) / layout.xaxis.range[1];
    const ends = [];
    for (const note of layout.annotations.filter(n => n.name === 'event').sort((a, b) => a.x - b.x)) {
      const half = 3.2 * note.text.length + 3;
      const most = plot.clientWidth - margin.l - margin.r;
      const centre = Math.min(Math.max(note.x * scale, half - margin.l), most + margin.r - half);
      let row = ends.findIndex(end => end <= centre - half);
      if (row < 0) row = ends.length;
      ends[row] = centre + half;
      note.xshift = centre - note.x * scale;
      note.yshift = 18 + 14 * row;
    }
    const top = 34 + 14 * Math.max(1, ends.length) + 18;
    surround += top - margin.t;
    margin.t = top;
    layout.height = surround + height;
    plot.style.minHeight = `${layout.height}px`;
  }

  // Panels stand below each other in a narrow view, each with the title of the vertical axes.
  function stack(plot, layout) {
    const keys = Object.keys(layout).filter(key => /^xaxis/.test(key)).sort((a, b) => (a.slice(5) || 1) - (b.slice(5) || 1));
    if (plot.clientWidth >= NARROW || keys.length < 2) return;
    const count = keys.length, row = 236, { margin, legend } = layout;
    const titles = layout.annotations.filter(note => note.name === 'panel');
    keys.forEach((key, i) => {
      const top = 1 - i / count, side = layout[`y${key.slice(1)}`];
      layout[key].domain = [0, 1];
      Object.assign(side, { domain: [top - 0.74 / count, top], showticklabels: true, title: side.title?.text ? side.title : layout.yaxis.title });
      if (titles[i]) Object.assign(titles[i], { x: 0.5, y: top });
    });
    if (legend) legend.y = 0.26 / count - 46 / (count * row);
    layout.height = count * row + margin.t + margin.b;
    plot.style.minHeight = `${layout.height}px`;
  }

  function release(plot) {
    Plotly.purge(plot);
    plot.classList.remove('is-drawn');
    const at = drawn3d.indexOf(plot);
    if (at >= 0) drawn3d.splice(at, 1);
  }

  function draw(plot) {
    if (plot.classList.contains('is-drawn')) return;
    const figure = themed(figureOf(plot));
    const is3d = figure.kind === 'path';
    if (is3d && !canDraw3d) {
      plot.querySelector('.waiting').textContent =
        'This browser has no WebGL: instead of the 3D view, see the top and side views.';
      return;
    }
    if (is3d) fit3d(plot, figure.layout);
    if (figure.kind === 'series') fitSeries(plot, figure.layout);
    if (figure.kind === 'radar') fitRadar(plot, figure);
    if (figure.kind === 'panels') stack(plot, figure.layout);
    if (is3d) {
      if (drawn3d.length >= MOST_3D) release(drawn3d[0]);
      drawn3d.push(plot);
    }
    plot.classList.add('is-drawn');
    Plotly.newPlot(plot, figure.data, figure.layout, CONFIG);
  }

  const observer = new IntersectionObserver(entries => {
    for (const entry of entries) if (entry.isIntersecting) draw(entry.target);
  }, { rootMargin: '250px' });
  plots.forEach(plot => observer.observe(plot));

  function redraw() {
    for (const plot of plots.filter(p => p.classList.contains('is-drawn'))) {
      release(plot);
      observer.unobserve(plot);
      observer.observe(plot);
    }
  }
  isDark.addEventListener('change', redraw);

  // A link into a closed episode opens it.
  function openTarget() {
    let node = location.hash && document.getElementById(location.hash.slice(1));
    if (!node) return;
    const target = node;
    for (; node; node = node.parentElement) if (node.tagName === 'DETAILS') node.open = true;
    target.scrollIntoView();
  }
  window.addEventListener('hashchange', openTarget);
  openTarget();

  for (const button of document.querySelectorAll('button[data-all]')) {
    button.addEventListener('click', () => {
      for (const episode of document.querySelectorAll('.episode')) episode.open = button.dataset.all === 'open';
    });
  }

  // On paper every episode is open and its time series drawn; 3D views give way to the top and side views.
  let openedForPrint = [];
  window.addEventListener('beforeprint', () => {
    openedForPrint = [...document.querySelectorAll('.episode:not([open])')];
    for (const episode of openedForPrint) episode.open = true;
    plots.filter(p => !p.classList.contains('path3d')).forEach(draw);
  });
  window.addEventListener('afterprint', () => {
    for (const episode of openedForPrint) episode.open = false;
  });

  // Click a heading of the episode table to sort by it.
  const value = cell => {
    const number = Number.parseFloat(cell.textContent.replaceAll(',', ''));
    return Number.isNaN(number) ? null : number;
  };
  for (const table of document.querySelectorAll('table.sortable')) {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => heading.addEventListener('click', () => {
      const isDown = heading.getAttribute('aria-sort') === 'ascending';
      headings.forEach(h => h.removeAttribute('aria-sort'));
      heading.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
      const isNumber = heading.classList.contains('n');
      const key = row => isNumber ? value(row.cells[column]) : row.cells[column].textContent.trim();
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => {
        const [p, q] = [key(a), key(b)];
        if (p === null || q === null) return (p === null) - (q === null);
        const order = isNumber ? p - q : p.localeCompare(q);
        return isDown ? -order : order;
      });
      table.tBodies[0].append(...rows);
    }));
  }
})();
