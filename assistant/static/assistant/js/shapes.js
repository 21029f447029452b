// Series into rectangles and paths. Pure: numbers in, [tag, attributes] out.

const GAP = 0.25;
// A limit that is far above what happens would press everything flat: then only its words are shown.
const NEAR = 4;

/** The shapes of all series in a drawing of `width` by `height`, and the number at its top edge. */
export function shapesOf(series, values, limit, width, height, count) {
  const most = topOf(series, values, limit);
  const step = width / count;
  const high = (value) => (height * value) / most;
  const shapes = [["path", { class: "chart-rule", d: `M0 ${height / 2}H${width}M0 ${height}H${width}` }]];
  const stacked = new Array(count).fill(0);
  for (const [key, , kind] of series) {
    if (kind === "bar" || kind.startsWith("stacked")) shapes.push(...bars(values[key], kind, stacked, step, high, height));
    else if (kind === "dots") shapes.push(...dots(values[key], step, high, height));
    else shapes.push(...curve(values[key], kind, step, high, height));
  }
  if (limit && limit[1] <= most) shapes.push(["path", { class: "chart-limit", d: `M0 ${height - high(limit[1])}H${width}` }]);
  return { shapes, most };
}

/** A round number that nothing of the chart is above. */
function topOf(series, values, limit) {
  const sums = values[series[0][0]].map((_, index) => stackAt(series, values, index));
  const highest = Math.max(0, ...sums);
  if (limit && highest * NEAR >= limit[1]) return Math.max(limit[1] * 1.05, highest);
  return rounded(highest);
}

function stackAt(series, values, index) {
  let stack = 0;
  let single = 0;
  for (const [key, , kind] of series) {
    const value = values[key][index] ?? 0;
    if (kind === "bar" || kind.startsWith("stacked")) stack += value;
    else single = Math.max(single, value);
  }
  return Math.max(stack, single);
}

function rounded(number) {
  if (number <= 0) return 1;
  const size = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].find((part) => part * size >= number) * size;
}

function bars(values, kind, stacked, step, high, height) {
  return values.flatMap((value, index) => {
    if (!value) return [];
    const from = stacked[index];
    stacked[index] += value;
    const tall = Math.max(1.5, high(value));
    const x = index * step + (GAP * step) / 2;
    return [["rect", { class: `series-${kind}`, x, y: height - high(from) - tall, width: step * (1 - GAP), height: tall }]];
  });
}

function dots(values, step, high, height) {
  return values.flatMap((value, index) =>
    value === null ? [] : [["path", { class: "series-dots", d: `M${index * step + step * 0.15} ${height - Math.max(1, high(value))}h${step * 0.7}` }]],
  );
}

/** A line; nulls interrupt it. An area is the same line with what lies under it. */
function curve(values, kind, step, high, height) {
  const points = values.map((value, index) => (value === null ? null : [(index + 0.5) * step, height - high(value)]));
  const path = points.map((point, index) => (point ? `${points[index - 1] ? "L" : "M"}${point[0]} ${point[1]}` : "")).join("");
  if (!path) return [];
  // A minute alone between two without a number would have no length, and be invisible.
  const line = ["path", { class: "series-line", d: path.replace(/M([\d.]+) ([\d.]+)(?=M|$)/g, `M$1 $2h${step / 2}`) }];
  if (kind !== "area") return [line];
  const under = `${path}L${(values.length - 0.5) * step} ${height}L${step / 2} ${height}Z`;
  return [["path", { class: "series-area", d: under }], line];
}
