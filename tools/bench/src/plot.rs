//! Figures as pictures: SVG, drawn without fonts or anything else of the machine.

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::quality::{LevelReport, Metric};
use crate::scale::SizeReport;

const WIDTH: u32 = 960;
const PANEL_HEIGHT: u32 = 340;
const MARGIN: u32 = 14;
const LEGEND_WIDTH: u32 = 150;
const FONT: &str = "sans-serif";
/// Colours that also differ for colour-blind readers (Okabe & Ito 2008).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(80, 80, 80),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws `panels` below each other.
fn picture(
    panels: usize,
    mut draw: impl FnMut(usize, &Area<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let size = (WIDTH, PANEL_HEIGHT * panels.max(1) as u32);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE).map_err(drawing)?;
        for (n, area) in root.split_evenly((panels.max(1), 1)).iter().enumerate().take(panels) {
            draw(n, area)?;
        }
        root.present().map_err(drawing)?;
    }
    Ok(svg)
}

fn drawing(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("the plot cannot be drawn: {error}")
}

fn colour(n: usize) -> RGBColor {
    COLOURS[n % COLOURS.len()]
}

/// The share of the evidence among the first `k` by category, a bar for each set of weights with its 95 % interval; a
/// panel for each level.
pub fn quality(levels: &[LevelReport], k: usize) -> anyhow::Result<String> {
    picture(levels.len(), |n, area| quality_panel(&levels[n], k, area))
}

fn quality_panel(level: &LevelReport, k: usize, area: &Area<'_>) -> anyhow::Result<()> {
    let configurations = &level.configurations;
    let groups: &[crate::quality::Group] = configurations.first().map_or(&[], |c| &c.groups);
    let caption = format!(
        "Evidence found among the first {k}, {}, {}s, {} questions",
        level.collection,
        level.level.name(),
        level.questions
    );
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .margin_right(LEGEND_WIDTH + MARGIN)
        .caption(caption, (FONT, 17))
        .x_label_area_size(28)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..groups.len().max(1) as f64, 0.0..1.0)
        .map_err(drawing)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .max_light_lines(1)
        .x_labels(0)
        .y_labels(6)
        .y_label_formatter(&|share| format!("{:.0} %", share * 100.0))
        .label_style((FONT, 12))
        .draw()
        .map_err(drawing)?;
    let width = 0.8 / configurations.len().max(1) as f64;
    for (n, configured) in configurations.iter().enumerate() {
        let bars: Vec<(f64, &Metric)> = configured
            .groups
            .iter()
            .enumerate()
            .filter_map(|(at, group)| Some((at as f64 + 0.1 + width * n as f64, group.metric("frac", k)?)))
            .collect();
        let rectangle = |(left, metric): &(f64, &Metric)| {
            Rectangle::new([(*left, 0.0), (left + width * 0.92, metric.mean.mean)], colour(n).filled())
        };
        chart.draw_series(bars.iter().map(rectangle)).map_err(drawing)?;
        let whisker = |(left, metric): &(f64, &Metric)| {
            let middle = left + width * 0.46;
            PathElement::new(
                vec![(middle, metric.mean.low), (middle, metric.mean.high)],
                BLACK.stroke_width(1),
            )
        };
        chart.draw_series(bars.iter().map(whisker)).map_err(drawing)?;
    }
    let (across, down) = chart.plotting_area().get_pixel_range();
    let (left, top) = area.get_base_pixel();
    let wide = f64::from(across.end - across.start);
    let below = Pos::new(HPos::Center, VPos::Top);
    for (at, group) in groups.iter().enumerate() {
        let name = format!("{} ({})", group.group, group.questions);
        let middle = across.start - left + (wide * (at as f64 + 0.5) / groups.len() as f64) as i32;
        let style = TextStyle::from((FONT, 12).into_font()).pos(below);
        area.draw(&Text::new(name, (middle, down.end - top + 8), style)).map_err(drawing)?;
    }
    legend(area, configurations.iter().map(|c| c.weights.as_str()))
}

/// The latency over the size: a line for the middle and a broken one for the slow end, for each set of weights; a panel
/// for each number of clients.
pub fn scale(sizes: &[SizeReport]) -> anyhow::Result<String> {
    let mut clients: Vec<usize> =
        sizes.iter().flat_map(|size| size.measured.iter().map(|m| m.clients)).collect();
    clients.sort_unstable();
    clients.dedup();
    picture(clients.len(), |n, area| scale_panel(sizes, clients[n], area))
}

fn scale_panel(sizes: &[SizeReport], clients: usize, area: &Area<'_>) -> anyhow::Result<()> {
    let of_weights = |weights: &str| -> Vec<(f64, f64, f64)> {
        let measured = sizes.iter().flat_map(|size| size.measured.iter().map(|m| (size.passages, m)));
        measured
            .filter(|(_, m)| m.clients == clients && m.weights == weights)
            .map(|(passages, m)| (passages as f64, m.outcome.ms.p50, m.outcome.ms.p95))
            .collect()
    };
    let names: Vec<&str> = sizes.first().map_or_else(Vec::new, |size| {
        size.measured.iter().filter(|m| m.clients == clients).map(|m| m.weights.as_str()).collect()
    });
    let smallest = sizes.iter().map(|s| s.passages).min().unwrap_or(1).max(1) as f64;
    let largest = sizes.iter().map(|s| s.passages).max().unwrap_or(10) as f64;
    let measured: Vec<f64> = sizes.iter().map(|s| s.passages as f64).collect();
    let times = || names.iter().flat_map(|name| of_weights(name)).flat_map(|(_, p50, p95)| [p50, p95]);
    let fastest = times().fold(f64::MAX, f64::min).clamp(0.01, 1e6);
    let slowest = times().fold(fastest * 2.0, f64::max);
    let plural = if clients == 1 { "" } else { "s" };
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .margin_right(LEGEND_WIDTH + MARGIN)
        .caption(format!("Recall, {clients} client{plural}: p50, and p95 in pale"), (FONT, 17))
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(
            (smallest * 0.8..(largest * 1.25).max(smallest * 2.0)).log_scale().with_key_points(measured),
            (fastest * 0.7..slowest * 1.4).log_scale(),
        )
        .map_err(drawing)?;
    chart
        .configure_mesh()
        .max_light_lines(1)
        .x_desc("passages")
        .y_desc("milliseconds")
        .x_label_formatter(&|n| format!("{n:.0}"))
        .label_style((FONT, 12))
        .draw()
        .map_err(drawing)?;
    for (n, name) in names.iter().enumerate() {
        let points = of_weights(name);
        let middle = points.iter().map(|(x, p50, _)| (*x, *p50));
        let slow = points.iter().map(|(x, _, p95)| (*x, *p95));
        chart
            .draw_series(LineSeries::new(middle, colour(n).stroke_width(2)).point_size(3))
            .map_err(drawing)?;
        chart
            .draw_series(LineSeries::new(slow, colour(n).mix(0.4).stroke_width(1)).point_size(2))
            .map_err(drawing)?;
    }
    legend(area, names.iter().copied())
}

/// The colours' meanings, to the right of the chart, where they cover nothing.
fn legend<'a>(area: &Area<'_>, names: impl Iterator<Item = &'a str>) -> anyhow::Result<()> {
    let left = (WIDTH - LEGEND_WIDTH) as i32;
    for (n, name) in names.enumerate() {
        let middle = 50 + 20 * n as i32;
        let sample = [(left, middle - 5), (left + 14, middle + 5)];
        area.draw(&Rectangle::new(sample, colour(n).filled())).map_err(drawing)?;
        let style = TextStyle::from((FONT, 12).into_font()).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(name, (left + 20, middle), style)).map_err(drawing)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::{AnswerCosts, Configured, Group, Level};
    use crate::scale::{Filled, Measured, Outcome};
    use measuring::percentiles::Spread;

    fn level() -> LevelReport {
        let metric = |mean: f64| Metric {
            metric: "frac",
            k: 10,
            mean: measuring::interval::Mean { mean, low: mean - 0.1, high: mean + 0.1 },
            against_default: None,
        };
        let configured = |weights: &str, mean| Configured {
            weights: weights.to_owned(),
            recall_ms: Spread::default(),
            groups: ["all", "2 temporal"]
                .map(|group| Group { group: group.to_owned(), questions: 9, metrics: vec![metric(mean)] })
                .to_vec(),
        };
        LevelReport {
            collection: "talks".to_owned(),
            level: Level::Turn,
            stored: 1,
            storing_seconds: 1.0,
            questions: 9,
            skipped: 0,
            configurations: vec![configured("default", 0.8), configured("vector alone", 0.4)],
            default_answers: AnswerCosts::default(),
        }
    }

    fn size(passages: u64, p50: f64) -> SizeReport {
        let one = |clients, weights: &str| Measured {
            weights: weights.to_owned(),
            clients,
            outcome: Outcome {
                ms: Spread { p50, p95: p50 * 2.0, p99: p50 * 3.0, max: p50 * 4.0, count: 10 },
                per_second: 1.0,
                errors: 0,
            },
        };
        SizeReport {
            passages,
            filled: Filled::default(),
            measured: vec![one(1, "default"), one(16, "default")],
            index_agreement: None,
            on_disk: Vec::new(),
            database_bytes: 0,
            process_bytes: None,
            server_bytes: None,
            measuring_seconds: 1.0,
        }
    }

    #[test]
    fn quality_is_drawn_with_a_bar_and_a_whisker_for_each_group_and_set_of_weights() {
        let svg = quality(&[level(), level()], 10).unwrap();
        assert!(svg.starts_with("<svg"), "{svg}");
        for text in ["turns", "2 temporal (9)", "vector alone", "80 %"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert_eq!(
            svg.matches("#0072B2").count(),
            2 * (2 + 1),
            "two bars and the legend, in two panels: {svg}"
        );
    }

    #[test]
    fn latency_is_drawn_over_the_size_for_each_number_of_clients() {
        for sizes in [vec![size(1_000, 3.0), size(100_000, 40.0)], vec![size(200, 1.0)]] {
            let svg = scale(&sizes).unwrap();
            for text in ["1 client:", "16 clients:", "default", "passages"] {
                assert!(svg.contains(text), "{text}: {svg}");
            }
        }
    }
}
