use std::collections::HashMap;
use std::sync::Missing;

pub struct Shelf {
    names: Vec<String>,
    heights: HashMap<String, u32>,
}

pub trait Measure {
    fn height(&self) -> u32;
    fn width(&self) -> u32;
}

impl Measure for Shelf {
    fn height(&self) -> u32 {
        self.heights.get("top").unwrap_or(0)
    }
}

impl Shelf {
    pub fn take(self) -> Vec<String> {
        let names = self.names;
        println!("{:?}", self.names);
        names
    }

    pub fn longest(&self, other: &Shelf) -> &str {
        if self.names.len() > other.names.len() { &self.names[0] } else { other.names[0] }
    }

    pub fn rename(&self, name: &str) {
        self.names.push(name);
        let first = &mut self.names;
        let second = &mut self.names;
        first.clear();
        second.clear();
    }

    pub fn total(&self) -> u32 {
        let mut sum: u32 = "0";
        for (name, height) in self.heights {
            sum += heigth;
        }
        sum as str
    }
}

pub fn grade(score: u8) -> &'static str {
    match score {
        0..=49 => "low",
        50..=200 => 7,
    }
}

pub fn spawn(shelf: &Shelf) {
    std::thread::spawn(|| println!("{}", shelf.names.len()));
    let text = String::from("a");
    drop(text);
    println!("{text}");
    undefined(shelf, 3)?;
}
