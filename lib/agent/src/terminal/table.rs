//! A table for a terminal: columns are as wide as their cells, or narrower if the terminal is narrow.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The number of spaces between two columns.
const GAP: usize = 2;

/// The part of a cell that is omitted if its column is too narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The end, for sentences.
    End,
    /// The beginning, for paths, whose end matters more.
    Start,
    /// Nothing: the column is never narrower than its cells.
    Never,
}

#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub heading: &'static str,
    pub cut: Cut,
    /// The minimum width of the column.
    pub min_width: usize,
}

impl Column {
    pub const fn new(heading: &'static str, cut: Cut, min_width: usize) -> Column {
        Column {
            heading,
            cut,
            min_width,
        }
    }
}

/// A row: a style and its cells, one for each column.
pub type Row = (Style, Vec<String>);

/// Renders the headings and the rows, one line each. No line is wider than `width`, unless the minimum widths are.
pub fn render(columns: &[Column], rows: &[Row], width: Option<usize>) -> String {
    let mut widths: Vec<usize> = columns.iter().map(|column| column.heading.width()).collect();
    for (_, cells) in rows {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.width());
        }
    }
    if let Some(width) = width {
        reduce(&mut widths, columns, width);
    }
    let mut text = line(
        columns,
        &widths,
        columns.iter().map(|column| column.heading),
        Style::new().dimmed(),
    );
    for (style, cells) in rows {
        text.push_str(&line(columns, &widths, cells.iter().map(String::as_str), *style));
    }
    text
}

/// Reduces the width of the widest column that can be narrower, until all columns fit in `width`.
fn reduce(widths: &mut [usize], columns: &[Column], width: usize) {
    let gaps = GAP * columns.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > width {
        let is_reducible =
            |(index, column): &(usize, &Column)| column.cut != Cut::Never && widths[*index] > column.min_width;
        let widest = columns
            .iter()
            .enumerate()
            .filter(is_reducible)
            .max_by_key(|(index, _)| widths[*index]);
        match widest {
            Some((index, _)) => widths[index] -= 1,
            None => return,
        }
    }
}

fn line<'a>(columns: &[Column], widths: &[usize], cells: impl Iterator<Item = &'a str>, style: Style) -> String {
    let mut text = String::new();
    for ((column, width), cell) in columns.iter().zip(widths).zip(cells) {
        let cell = cut(cell, *width, column.cut);
        let padding = width - cell.width() + GAP;
        text.push_str(&cell);
        text.extend(std::iter::repeat_n(' ', padding));
    }
    format!("{style}{}{style:#}\n", text.trim_end())
}

/// `text` in at most `width` columns, with an ellipsis if it is cut.
pub fn cut(text: &str, width: usize, cut: Cut) -> String {
    if cut == Cut::Never || text.width() <= width {
        return text.to_owned();
    }
    let mut remaining = width.saturating_sub(1);
    let fits = |character: &char| {
        let character_width = character.width().unwrap_or(0);
        let fits = character_width <= remaining;
        remaining = remaining.saturating_sub(character_width);
        fits
    };
    match cut {
        Cut::Start => {
            let end: Vec<char> = text.chars().rev().take_while(fits).collect();
            std::iter::once('…').chain(end.into_iter().rev()).collect()
        }
        Cut::End | Cut::Never => text.chars().take_while(fits).chain(std::iter::once('…')).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] = [
        Column::new("FILE", Cut::Start, 8),
        Column::new("MODE", Cut::Never, 0),
        Column::new("MESSAGE", Cut::End, 8),
    ];

    fn table(width: Option<usize>) -> String {
        let row = |cells: [&str; 3]| (Style::new(), cells.map(str::to_owned).to_vec());
        let rows = [
            row([
                "lib/server/src/authentication/session.rs",
                "WRITING",
                "Adding connection pooling",
            ]),
            row(["src/größe.ts", "READING", "日本語のメッセージ"]),
        ];
        anstream::adapter::strip_str(&render(&COLUMNS, &rows, width)).to_string()
    }

    #[test]
    fn a_table_is_as_wide_as_its_cells_or_as_the_terminal() {
        insta::assert_snapshot!(format!("{}\n{}\n{}", table(None), table(Some(60)), table(Some(34))));
        for line in table(Some(60)).lines() {
            assert!(line.width() <= 60, "{line}");
        }
    }

    #[test]
    fn a_cell_is_cut_by_what_is_seen_and_not_by_bytes() {
        assert_eq!(cut("größer", 4, Cut::End), "grö…");
        assert_eq!(cut("日本語", 4, Cut::End), "日…", "each takes two columns");
        assert_eq!(cut("src/a.ts", 5, Cut::Start), "…a.ts");
        assert_eq!(cut("src/a.ts", 0, Cut::End), "…");
    }
}
