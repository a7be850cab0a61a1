// The cases of tests/report/figure_file_test.cpp; numbers as fmt::format("{}", x) writes them.
//
// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import { csv_field, csv_number, points_csv } from './csv';
import type { AxisData, HeatmapFigureData, LineFigureData } from './data';

const kAxis: AxisData = { label: '', scale: 'linear', range: [0, 1] };

const kHeatMap: HeatmapFigureData = {
  kind: 'heatmap',
  columns: 4,
  x_label: '',
  y_label: '',
  z_label: '',
  x_scale: 'linear',
  y_scale: 'linear',
  z_scale: 'linear',
  z_low: 0,
  z_high: 1,
  colours: 'viridis',
  look: 'graph',
  panels: [
    {
      title: 'n = 64, "simplex"',
      subtitle: '',
      x: [1, 2],
      y: [0.5, 1.5],
      z: [0.25, 0.5, 0.75, null],
      error: [0.01, 0.02, null, null],
      borrowed: [1],
      curves: [{ label: 'theory', style: 'dashed', x: [1, 2], y: [0.5, 'inf'] }],
    },
  ],
};

const kLines: LineFigureData = {
  kind: 'lines',
  columns: 3,
  panels: [
    {
      title: '',
      x: kAxis,
      y: kAxis,
      markers: [],
      series: [
        {
          label: 'n = 8',
          style: 'points',
          colour: '#0072b2',
          theory: false,
          x: [1, 2],
          y: [0.1, 0.3],
          error: [0.01, null],
        },
        {
          label: 'theory',
          style: 'dashed',
          colour: '#000000',
          theory: true,
          x: [1, 2],
          y: [0.125, 1 / 3],
          error: [],
        },
      ],
    },
  ],
};

describe('points_csv', () => {
  it('holds measured cells and curves, but no cell that borrows', () => {
    expect(points_csv(kHeatMap)).toBe(
      'panel,curve,x,y,value,standard_error\n' +
        '"n = 64, ""simplex""",,1,0.5,0.25,0.01\n' +
        '"n = 64, ""simplex""",,2,0.5,0.75,\n' +
        '"n = 64, ""simplex""",,2,1.5,,\n' +
        '"n = 64, ""simplex""",theory,1,0.5,,\n' +
        '"n = 64, ""simplex""",theory,2,inf,,\n',
    );
  });

  it('holds points with their errors', () => {
    expect(points_csv(kLines)).toBe(
      'panel,series,x,y,standard_error\n' +
        ',n = 8,1,0.1,0.01\n' +
        ',n = 8,2,0.3,\n' +
        ',theory,1,0.125,\n' +
        ',theory,2,0.3333333333333333,\n',
    );
  });
});

describe('csv_number', () => {
  it('is what the program writes', () => {
    const written: [number, string][] = [
      [1e15, '1000000000000000'],
      [1e16, '1e+16'],
      [123456789012345680, '1.2345678901234568e+17'],
      [1e21, '1e+21'],
      [1e-4, '0.0001'],
      [1e-5, '1e-05'],
      [1.5e-7, '1.5e-07'],
      [-2.5e-300, '-2.5e-300'],
      [5e-324, '5e-324'],
      [0.1 + 0.2, '0.30000000000000004'],
      [-0, '-0'],
      [12345678.9, '12345678.9'],
      [Infinity, 'inf'],
      [-Infinity, '-inf'],
      [NaN, ''],
    ];
    for (const [number, text] of written) expect(csv_number(number)).toBe(text);
  });

  it('gives the number back', () => {
    for (let k = -320; k < 308; k += 0.7) {
      const number = Math.sin(k) * 10 ** k;
      expect(Number(csv_number(number))).toBe(number);
    }
  });
});

describe('csv_field', () => {
  it('is quoted where it must be', () => {
    const fields = ['plain', 'a,b', 'say "x"', 'two\nlines'];
    expect(fields.map(csv_field)).toEqual(['plain', '"a,b"', '"say ""x"""', '"two\nlines"']);
  });
});
