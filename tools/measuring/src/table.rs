//! A table for the terminal.

/// Columns as wide as their widest cell; the first column to the left, the others to the right.
pub fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = (0..head.len())
        .map(|n| {
            let cells = rows.iter().filter_map(|row| row.get(n));
            cells.chain([&head[n]]).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(n, (cell, width))| {
            if n == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    [line(head), line(&rule)].into_iter().chain(rows.iter().map(|row| line(row))).collect()
}

/// The head of a table.
pub fn head<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let rows = vec![vec!["a".to_owned(), "1".to_owned()], vec!["long".to_owned(), "100".to_owned()]];
        assert_eq!(table(&head(["what", "n"]), &rows), "what    n\n----  ---\na       1\nlong  100\n");
    }
}
