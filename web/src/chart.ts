// A panel of curves as a uPlot chart: the canvas, its scales and the rectangle of a zoom are
// uPlot's; the picture is ours. uPlot sees places, on linear scales.
//
// SPDX-License-Identifier: Apache-2.0
import uPlot from 'uplot';

import type { Box, Frame } from './frame';

export interface ChartEvents {
  paint(context: CanvasRenderingContext2D): void; // in CSS pixels
  hover(x: number, y: number): void; // on the canvas
  leave(): void;
  select(box: Box): void;
  reset(): void;
}

const kLeastDrag = 6;
const kOneWay = 16; // a drag that is flatter than this many pixels zooms along one axis only

// uPlot draws with the pixels of the screen. For a printer the chart is `unit` times as large, and
// its element is shown smaller by as much.
function padding(frame: Frame, unit: number): [number, number, number, number] {
  const { left, top, width, height } = frame.box;
  const sides = [top, frame.width - left - width, frame.height - top - height, left];
  return sides.map((side) => side * unit) as [number, number, number, number];
}

function cursor(events: ChartEvents): uPlot.Cursor {
  return {
    x: false,
    y: false,
    points: { show: false },
    drag: { x: true, y: true, uni: kOneWay, dist: kLeastDrag, setScale: false },
    bind: {
      dblclick: () => () => {
        events.reset();
        return null;
      },
    },
  };
}

function hooks(frame: Frame, unit: number, events: ChartEvents): uPlot.Hooks.Arrays {
  const { left, top } = frame.box;
  return {
    draw: [
      ({ ctx }) => {
        ctx.save();
        ctx.scale(uPlot.pxRatio * unit, uPlot.pxRatio * unit);
        events.paint(ctx);
        ctx.restore();
      },
    ],
    setCursor: [
      ({ cursor }) => {
        const [x, y] = [cursor.left ?? -1, cursor.top ?? -1];
        const is_dragging = (cursor.event?.buttons ?? 0) > 0;
        if (x < 0 || y < 0 || is_dragging) events.leave();
        else events.hover(left + x, top + y);
      },
    ],
    setSelect: [
      ({ select }) => {
        if (select.width < 1 || select.height < 1) return;
        events.select({ ...select, left: left + select.left, top: top + select.top });
      },
    ],
  };
}

/** Drawn when this returns. */
export function make_chart(
  host: HTMLElement,
  frame: Frame,
  unit: number,
  events: ChartEvents,
): uPlot {
  const options: uPlot.Options = {
    width: frame.width * unit,
    height: frame.height * unit,
    padding: padding(frame, unit),
    scales: { x: { time: false, range: [...frame.view.x] }, y: { range: [...frame.view.y] } },
    axes: [{ show: false }, { show: false }],
    series: [{}, {}],
    legend: { show: false },
    cursor: cursor(events),
    hooks: hooks(frame, unit, events),
  };
  const nothing = [[...frame.view.x], frame.view.x.map(() => null)] satisfies uPlot.AlignedData;
  return new uPlot(options, nothing, (chart, begin) => {
    host.append(chart.root);
    // Left alone, uPlot would draw a little later, and a printer does not wait.
    chart.batch(() => begin());
  });
}
